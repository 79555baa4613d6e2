import { randomUUID } from 'node:crypto';
import type { DevPerson } from './people.js';
import { ana, bruno, nameless } from './people-default.js';

/**
 * Somebody who signed in. Without `sub` one is made from the email address, the user name or the name, so that the same
 * person has the same subject each time.
 */
export type TestPerson = Omit<DevPerson, 'sub'> & {
  /** The person's subject in the organization's IAM. */
  readonly sub?: string | undefined;
};

/** The people of a local platform, ready to sign in: Ana, Bruno with an unverified address, and one without a name. */
export const testPeople: {
  readonly ana: DevPerson;
  readonly bruno: DevPerson;
  readonly nameless: DevPerson;
} = Object.freeze({
  ana: Object.freeze(ana),
  bruno: Object.freeze(bruno),
  nameless: Object.freeze(nameless),
});

/** The claims of the runtime protocol's table. */
export type ClaimName =
  | 'iss'
  | 'aud'
  | 'jti'
  | 'sub'
  | 'org'
  | 'org_slug'
  | 'iam'
  | 'sid'
  | 'name'
  | 'email'
  | 'email_verified'
  | 'preferred_username'
  | 'iat'
  | 'nbf'
  | 'exp';

/** Claims to set besides the person's, of any value, right or wrong; `undefined` leaves a claim out. Times are seconds since the epoch. */
export type ClaimChanges = { readonly [Name in ClaimName]?: unknown } & { readonly [name: string]: unknown };

/** What `createTestIdentities` takes. Everything has a default. */
export interface TestIdentitiesOptions {
  /** `NNUMBERS_APP_ID`, and the audience of identities; default `app_test`. */
  readonly appId?: string | undefined;
  /** The organization of everybody; default `{ id: 'org_test', slug: 'test' }`. */
  readonly organization?: { readonly id: string; readonly slug: string } | undefined;
  /** `NNUMBERS_IDENTITY_ISSUER`; default `https://identity.nnumbers.test`. */
  readonly issuer?: string | undefined;
  /** The claim `iam`, the issuer of the organization's IAM; default `https://iam.nnumbers.test`. */
  readonly iam?: string | undefined;
  /** Who `header()` is without an argument; default {@link testPeople}`.ana`. */
  readonly person?: TestPerson | undefined;
  /**
   * The clock, in milliseconds since the epoch; default `Date.now`, asked anew each time. Hand the same one to the runtime
   * (it is in `runtimeOptions`), and a test of 2026 passes in 2030.
   */
  readonly now?: (() => number) | undefined;
}

/** Whom claims are for, and when. */
export interface ClaimContext {
  readonly appId: string;
  readonly organization: { readonly id: string; readonly slug: string };
  readonly issuer: string;
  readonly iam: string;
  readonly person: TestPerson;
  readonly now: () => number;
}

/** "exp is 5 minutes after iat" (runtime protocol). */
const lifetimeSeconds = 300;

/** Seconds since the epoch, whole. */
export function secondsOf(now: () => number): number {
  const ms = now();
  if (!Number.isFinite(ms)) throw new TypeError('`now` must give milliseconds since the epoch');
  return Math.floor(ms / 1000);
}

/** A person, or the email address of one, as a person with a subject. */
function toPerson(person: TestPerson | string): DevPerson {
  if (typeof person === 'string') {
    const known = Object.values(testPeople).find(({ email }) => email === person);
    return known ?? toPerson({ email: person });
  }
  if (typeof person !== 'object' || person === null)
    throw new TypeError('a person is an object such as { sub, name, email }, or an email address');
  const { sub = `sub-${person.email ?? person.preferred_username ?? person.name ?? 'unnamed'}` } = person;
  return { ...person, sub };
}

/** The claims of the contract's table for a person, valid from now for five minutes. */
export function claimsOf(
  context: ClaimContext,
  person: TestPerson | string = context.person,
  changes: ClaimChanges = {},
): Record<string, unknown> {
  const now = secondsOf(context.now);
  const { sub, name, email, email_verified, preferred_username } = toPerson(person);
  return {
    iss: context.issuer,
    aud: context.appId,
    jti: randomUUID(),
    sub,
    org: context.organization.id,
    org_slug: context.organization.slug,
    iam: context.iam,
    sid: `session-${sub}`,
    name,
    email,
    email_verified,
    preferred_username,
    iat: now,
    nbf: now,
    exp: now + lifetimeSeconds,
    ...changes,
  };
}
