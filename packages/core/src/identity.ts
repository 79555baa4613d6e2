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

// Freezing a Date does not stop setTime, so none is ever shared. One getter for all people: a getter of its own would give each person a
// hidden class of its own, and making that costs more than everything else here.
const dateProperties = {
  issuedAt: {
    enumerable: true,
    get(this: Person): Date {
      return new Date((this.claims.iat as number) * 1000);
    },
  },
  expiresAt: {
    enumerable: true,
    get(this: Person): Date {
      return new Date((this.claims.exp as number) * 1000);
    },
  },
};

/** The person that verified claims speak of. */
export function toPerson(claims: VerifiedClaims, payload: Readonly<Record<string, unknown>>): Person {
  const person: { -readonly [Name in keyof Person]?: Person[Name] } = {
    kind: 'person',
    subject: claims.sub,
    organization: Object.freeze({ id: claims.org, slug: claims.org_slug }),
    iam: claims.iam,
    sessionId: claims.sid,
    tokenId: claims.jti,
  };
  // A property that is absent in the claims, or null there, is absent here.
  if (claims.name != null) person.name = claims.name;
  if (claims.email != null) person.email = claims.email;
  if (claims.email_verified != null) person.emailVerified = claims.email_verified;
  if (claims.preferred_username != null) person.preferredUsername = claims.preferred_username;
  Object.defineProperty(person, 'issuedAt', dateProperties.issuedAt);
  Object.defineProperty(person, 'expiresAt', dateProperties.expiresAt);
  person.claims = freezeDeeply(payload);
  return Object.freeze(person as Person);
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
