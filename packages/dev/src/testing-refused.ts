import {
  type ClaimChanges,
  type ClaimContext,
  claimsOf,
  secondsOf,
  type TestPerson,
} from './testing-claims.js';
import { encodePart, makeKey, signCompact, signWithPublicKey, type TestKey } from './testing-keys.js';

/** One identity that must be refused, for a test that goes through them all. */
export interface RefusedIdentity {
  /** The name of the function that made it. */
  readonly name: keyof RefusedIdentities;
  /** The value of the header, or the values of its two lines. */
  readonly value: string | readonly [string, string];
  /** For `inject`, `fetch` or `http.request`: the header by its name. */
  readonly headers: { readonly 'x-nnumbers-identity': string | string[] };
  /** What `onRefused` of `@nn-runtime/core` is told. */
  readonly reason: string;
  /** What the application answers, when the broker's keys can be had. */
  readonly statusCode: 401;
}

/**
 * Identities that do not check out, each wrong in one way alone. Each is the person's it is given, by default the same as
 * `header()`; all but `repeated` give the value of one header.
 */
export interface RefusedIdentities {
  /** Signed for this person, then made another person's: the payload changed, the signature did not. */
  tampered(person?: TestPerson | string | undefined): string;
  /** Signed by a stranger's key under the published key ID. */
  forged(person?: TestPerson | string | undefined): string;
  /** Valid five minutes, an hour ago. */
  expired(person?: TestPerson | string | undefined): string;
  /** Valid five minutes, in an hour. */
  notYetValid(person?: TestPerson | string | undefined): string;
  /** Valid for a day: the platform hands out five minutes. */
  longLived(person?: TestPerson | string | undefined): string;
  /**
   * Signed by a key nobody published. The runtime must have been able to ask for keys to know: with `env` alone, without
   * a broker, it answers 503 `APPLICATION_IDENTITY_NOT_READY`; with `runtimeOptions` or a test broker, 401.
   */
  unknownKid(person?: TestPerson | string | undefined): string;
  /** Without a key ID. */
  noKid(person?: TestPerson | string | undefined): string;
  /** For another application of the same organization. */
  otherApplication(person?: TestPerson | string | undefined): string;
  /** For this application and one more. */
  twoApplications(person?: TestPerson | string | undefined): string;
  /** Of another organization. */
  otherOrganization(person?: TestPerson | string | undefined): string;
  /** From another issuer. */
  otherIssuer(person?: TestPerson | string | undefined): string;
  /** `alg: HS512`, with the published key for its secret (RFC 8725 section 2.1). */
  otherAlgorithm(person?: TestPerson | string | undefined): string;
  /** `alg: none` and no signature (RFC 8725 section 3.2). */
  unsigned(person?: TestPerson | string | undefined): string;
  /** `typ: JWT`: a token of another use (RFC 8725 section 3.11). */
  otherType(person?: TestPerson | string | undefined): string;
  /** With a critical extension nobody knows (RFC 7515 section 4.1.11). */
  criticalExtension(person?: TestPerson | string | undefined): string;
  /** Rightly signed, without a subject. */
  incomplete(person?: TestPerson | string | undefined): string;
  /** Text that is no token. */
  malformed(): string;
  /** The header is there, and empty: not the same as no header. */
  empty(): string;
  /** Rightly signed, and longer than 8,192 characters. */
  tooLong(person?: TestPerson | string | undefined): string;
  /** Two header lines, each right by itself. */
  repeated(person?: TestPerson | string | undefined): readonly [string, string];
}

const hour = 3600;
const day = 24 * hour;

/** Makes the functions. `key` gives the key that signs now: it changes when keys are rotated. */
export function refusedIdentities(context: ClaimContext, key: () => TestKey): RefusedIdentities {
  type Who = TestPerson | string | undefined;
  const jose = (changes: object = {}): object => ({
    alg: 'ES256',
    typ: 'nn-identity+jwt',
    kid: key().kid,
    ...changes,
  });
  const withClaims = (person: Who, changes: ClaimChanges): string =>
    signCompact(key(), jose(), claimsOf(context, person, changes));
  const withHeader = (person: Who, changes: object): string =>
    signCompact(key(), jose(changes), claimsOf(context, person));
  const validFrom = (startSeconds: number, seconds: number): ClaimChanges => {
    const start = secondsOf(context.now) + startSeconds;
    return { iat: start, nbf: start, exp: start + seconds };
  };

  return {
    tampered(person) {
      const claims = claimsOf(context, person);
      const [header, , signature] = signCompact(key(), jose(), claims).split('.');
      return `${header}.${encodePart({ ...claims, sub: `not-${claims.sub}` })}.${signature}`;
    },
    forged: (person) => signCompact(makeKey(key().kid), jose(), claimsOf(context, person)),
    expired: (person) => withClaims(person, validFrom(-hour, 300)),
    notYetValid: (person) => withClaims(person, validFrom(hour, 300)),
    longLived: (person) => withClaims(person, validFrom(0, day)),
    unknownKid(person) {
      const stranger = makeKey();
      return signCompact(stranger, jose({ kid: stranger.kid }), claimsOf(context, person));
    },
    noKid: (person) => withHeader(person, { kid: undefined }),
    otherApplication: (person) => withClaims(person, { aud: `not-${context.appId}` }),
    twoApplications: (person) => withClaims(person, { aud: [context.appId, `not-${context.appId}`] }),
    otherOrganization: (person) => withClaims(person, { org: `not-${context.organization.id}` }),
    otherIssuer: (person) => withClaims(person, { iss: `${context.issuer}.attacker.test` }),
    otherAlgorithm: (person) => signWithPublicKey(key(), jose({ alg: 'HS512' }), claimsOf(context, person)),
    unsigned: (person) => `${encodePart(jose({ alg: 'none' }))}.${encodePart(claimsOf(context, person))}.`,
    otherType: (person) => withHeader(person, { typ: 'JWT' }),
    criticalExtension: (person) => withHeader(person, { crit: ['extension'], extension: true }),
    incomplete: (person) => withClaims(person, { sub: undefined }),
    malformed: () => 'not-a-token',
    empty: () => '',
    tooLong: (person) => withClaims(person, { padding: 'x'.repeat(8192) }),
    repeated: (person) => [withClaims(person, {}), withClaims(person, {})],
  };
}

const reasons: Readonly<Record<keyof RefusedIdentities, string>> = {
  tampered: 'signature',
  forged: 'signature',
  expired: 'expired',
  notYetValid: 'not-yet-valid',
  longLived: 'lifetime',
  unknownKid: 'unknown-key',
  noKid: 'key-id',
  otherApplication: 'audience',
  twoApplications: 'audience',
  otherOrganization: 'organization',
  otherIssuer: 'issuer',
  otherAlgorithm: 'algorithm',
  unsigned: 'malformed',
  otherType: 'type',
  criticalExtension: 'critical',
  incomplete: 'claims',
  malformed: 'malformed',
  empty: 'empty',
  tooLong: 'too-long',
  repeated: 'repeated',
};

/** Every one of them, made now. */
export function listRefused(
  make: RefusedIdentities,
  person: TestPerson | string | undefined,
): readonly RefusedIdentity[] {
  return (Object.keys(reasons) as (keyof RefusedIdentities)[]).map((name) => {
    const value = make[name](person);
    const lines = typeof value === 'string' ? value : [...value];
    return { name, value, headers: { 'x-nnumbers-identity': lines }, reason: reasons[name], statusCode: 401 };
  });
}
