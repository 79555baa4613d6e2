import type { VerifiedClaims } from './claims.js';
import { SignInRequiredError } from './errors.js';

/** Who signed in: every field verified. Frozen, safe to share, log-worthy only as far as names and addresses are. */
export interface Person {
  readonly kind: 'person';
  /** The person's subject in the organization's IAM (claim `sub`). */
  readonly subject: string;
  /** The organization (claims `org` and `org_slug`). */
  readonly organization: { readonly id: string; readonly slug: string };
  /** The issuer of the organization's IAM (claim `iam`). */
  readonly iam: string;
  /** The session in the platform, an opaque reference and not the cookie (claim `sid`). */
  readonly sessionId: string;
  /** The identifier of this one identity (claim `jti`). */
  readonly tokenId: string;
  readonly name?: string | undefined;
  readonly email?: string | undefined;
  readonly emailVerified?: boolean | undefined;
  readonly preferredUsername?: string | undefined;
  /** Claim `iat`. A new Date at each read. */
  readonly issuedAt: Date;
  /** Claim `exp`. A new Date at each read. */
  readonly expiresAt: Date;
  /** The whole verified payload, every member, deeply frozen. */
  readonly claims: Readonly<Record<string, unknown>>;
}

/** Nobody signed in: the request came without an identity. */
export interface Anonymous {
  readonly kind: 'anonymous';
}

/** Who a request is from. Told apart by `kind`. */
export type Identity = Person | Anonymous;

/** The one anonymous marker. */
export const anonymous: Anonymous = Object.freeze({ kind: 'anonymous' });

/** Whether somebody signed in; narrows the type. */
export function isPerson(identity: Identity): identity is Person {
  return identity.kind === 'person';
}

/**
 * Narrows an identity to a person.
 * @throws SignInRequiredError (401 USER_SESSION_REQUIRED) for an anonymous one.
 */
export function assertPerson(identity: Identity): asserts identity is Person {
  if (!isPerson(identity)) throw new SignInRequiredError();
}

/** The person that verified claims speak of. */
export function toPerson(claims: VerifiedClaims, payload: Readonly<Record<string, unknown>>): Person {
  const issuedAtMs = claims.iat * 1000;
  const expiresAtMs = claims.exp * 1000;
  return Object.freeze({
    kind: 'person',
    subject: claims.sub,
    organization: Object.freeze({ id: claims.org, slug: claims.org_slug }),
    iam: claims.iam,
    sessionId: claims.sid,
    tokenId: claims.jti,
    // A property that is absent in the claims, or null there, is absent here.
    ...(claims.name != null && { name: claims.name }),
    ...(claims.email != null && { email: claims.email }),
    ...(claims.email_verified != null && { emailVerified: claims.email_verified }),
    ...(claims.preferred_username != null && { preferredUsername: claims.preferred_username }),
    // Freezing a Date does not stop setTime, so none is ever shared.
    get issuedAt() {
      return new Date(issuedAtMs);
    },
    get expiresAt() {
      return new Date(expiresAtMs);
    },
    claims: freezeDeeply(payload),
  } satisfies Person);
}

function freezeDeeply<T extends object>(root: T): Readonly<T> {
  // A list instead of recursion: the payload is the platform's, but its depth is nobody's promise.
  const open: object[] = [root];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    Object.freeze(next);
    for (const value of Object.values(next))
      if (typeof value === 'object' && value !== null) open.push(value);
  }
  return root;
}
