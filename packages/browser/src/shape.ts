/** The organization of the application. */
export interface Organization {
  readonly id: string;
  readonly slug: string;
}

/**
 * Who signed in, as the platform tells the page: for showing, never for deciding. What a person may see is decided by the
 * application, from the identity it verified. A member that the platform sends as null is left out.
 */
export interface SessionUser {
  readonly name?: string | undefined;
  readonly email?: string | undefined;
  readonly email_verified?: boolean | undefined;
  readonly preferred_username?: string | undefined;
  /** Whatever else the platform sends, unchecked. */
  readonly [member: string]: unknown;
}

/** The answer of `GET /.nnumbers/auth/session` (runtime protocol, "The Reserved Paths"). */
export interface Session {
  /** Who signed in, or null when nobody is. */
  readonly user: SessionUser | null;
  readonly organization: Organization;
}

/** The answer of `GET /.nnumbers/v1/context` (runtime protocol, "The Reserved Paths"). */
export interface Context {
  readonly app: { readonly id: string };
  readonly organization: Organization;
  readonly auth: { readonly login_path: string; readonly logout_path: string };
}

type Members = Record<string, unknown>;

const isObject = (value: unknown): value is Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const hasStrings = (value: unknown, ...names: string[]): boolean =>
  isObject(value) && names.every((name) => typeof value[name] === 'string');

const isUser = (value: unknown): boolean =>
  isObject(value) &&
  Object.entries({
    name: 'string',
    email: 'string',
    email_verified: 'boolean',
    preferred_username: 'string',
  }).every(([name, type]) => {
    // An account without an email may come as `email: null`: the same fact as no email.
    if (value[name] === null) delete value[name];
    return !(name in value) || typeof value[name] === type;
  });

export const isSession = (value: unknown): value is Session =>
  isObject(value) &&
  (value.user === null || isUser(value.user)) &&
  hasStrings(value.organization, 'id', 'slug');

export const isContext = (value: unknown): value is Context =>
  isObject(value) &&
  hasStrings(value.app, 'id') &&
  hasStrings(value.organization, 'id', 'slug') &&
  hasStrings(value.auth, 'login_path', 'logout_path');
