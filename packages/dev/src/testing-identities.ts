import {
  type ClaimChanges,
  type ClaimContext,
  claimsOf,
  secondsOf,
  type TestIdentitiesOptions,
  type TestPerson,
  testPeople,
} from './testing-claims.js';
import { createTestFetch } from './testing-fetch.js';
import { makeKey, openCompact, type PublicJwk, signCompact } from './testing-keys.js';
import {
  listRefused,
  type RefusedIdentities,
  type RefusedIdentity,
  refusedIdentities,
} from './testing-refused.js';

/** The five variables the platform sets. */
export type TestEnvironment = Readonly<
  Record<
    | 'NNUMBERS_IDENTITY_JWKS'
    | 'NNUMBERS_BROKER_URL'
    | 'NNUMBERS_IDENTITY_ISSUER'
    | 'NNUMBERS_APP_ID'
    | 'NNUMBERS_ORG_ID',
    string
  >
>;

/** What `createRuntime`, the Fastify plugin and the Express middleware take, for a test. */
export interface TestRuntimeOptions {
  readonly env: TestEnvironment;
  /** The clock of the identities, in milliseconds since the epoch. */
  readonly now: () => number;
  /** Answers `GET /v1/jwks` without a server, and is unreachable for everything else. Absent with a test broker. */
  readonly fetch?: typeof globalThis.fetch | undefined;
}

/** Signed identities for tests, and the environment of an application that takes them. There is no server behind it. */
export interface TestIdentities extends RefusedIdentities {
  /**
   * The five variables the platform sets, as they were at the start: a rotated key is not in them. The broker's address in
   * them is one that nothing can answer.
   */
  readonly env: TestEnvironment;
  /** `{ env, now, fetch }`, to hand to `createRuntime`, `app.register(nnumbers, …)` or `nnumbers(…)`. */
  readonly runtimeOptions: TestRuntimeOptions & { readonly fetch: typeof globalThis.fetch };
  /** The clock, in milliseconds since the epoch. */
  readonly now: () => number;
  /** The key ID that signs now. */
  readonly kid: string;
  /**
   * The value of `X-NNumbers-Identity` for somebody who signed in.
   *
   * @param person a person, or the email address of one; default the options' `person`
   * @param claims claims to set besides, or to leave out with `undefined`
   * @throws TypeError when `person` is neither
   */
  header(person?: TestPerson | string | undefined, claims?: ClaimChanges | undefined): string;
  /**
   * The headers of a request by somebody who signed in, to spread into others. For null, nobody: no header at all, which
   * is what anonymous means.
   */
  headers(
    person?: TestPerson | string | null | undefined,
    claims?: ClaimChanges | undefined,
  ): { 'x-nnumbers-identity'?: string };
  /** Signs exactly these claims, under `alg`, `typ` and `kid` and what is set besides (or left out with `undefined`). */
  sign(
    claims: Readonly<Record<string, unknown>>,
    joseHeader?: Readonly<Record<string, unknown>> | undefined,
  ): string;
  /** Every identity that must be refused, with the reason the runtime names. */
  refused(person?: TestPerson | string | undefined): readonly RefusedIdentity[];
  /**
   * The claims of an identity, when it checks out as the platform's own broker would have it: signature by a published
   * key, issuer, application, organization, validity with 60 s of tolerance. Undefined otherwise.
   */
  verify(unverifiedValue: string): Readonly<Record<string, unknown>> | undefined;
  /** The published public keys, as `GET /v1/jwks` gives them. */
  jwks(): { readonly keys: readonly PublicJwk[] };
  /** Signs with a new key from now on; the former ones stay published. Gives the new key ID. */
  rotateKey(): string;
  /**
   * Takes a key out of the published set; default the one that signs. A new key takes its place when it was that one.
   *
   * @throws RangeError when no published key has this ID
   */
  withdrawKey(kid?: string | undefined): void;
}

// fetch refuses the discard port by itself (WHATWG Fetch, "bad port"), so nothing ever leaves the process.
const nowhere = 'http://127.0.0.1:9';

/** "with up to 60 s of clock tolerance" (runtime protocol). */
const toleranceSeconds = 60;

/**
 * Makes a signing key, and with it identities of a platform that does not exist: nothing listens, nothing is started and
 * nothing has to be closed.
 *
 * @throws TypeError when an option is empty or none, or `now` is not a function
 */
export function createTestIdentities(options: TestIdentitiesOptions = {}): TestIdentities {
  const context = readContext(options);
  let current = makeKey();
  const published = new Map([[current.kid, current]]);
  const refused = refusedIdentities(context, () => current);

  const jwks = (): { keys: PublicJwk[] } => ({ keys: [...published.values()].map((key) => key.jwk) });
  const env: TestEnvironment = Object.freeze({
    NNUMBERS_IDENTITY_JWKS: JSON.stringify(jwks()),
    NNUMBERS_BROKER_URL: nowhere,
    NNUMBERS_IDENTITY_ISSUER: context.issuer,
    NNUMBERS_APP_ID: context.appId,
    NNUMBERS_ORG_ID: context.organization.id,
  });
  const sign: TestIdentities['sign'] = (claims, joseHeader = {}) =>
    signCompact(current, { alg: 'ES256', typ: 'nn-identity+jwt', kid: current.kid, ...joseHeader }, claims);
  const header: TestIdentities['header'] = (person, claims) => sign(claimsOf(context, person, claims));

  function rotateKey(): string {
    current = makeKey();
    published.set(current.kid, current);
    return current.kid;
  }

  return {
    ...refused,
    env,
    runtimeOptions: Object.freeze({
      env,
      now: context.now,
      fetch: createTestFetch(`${nowhere}/v1/jwks`, jwks),
    }),
    now: context.now,
    get kid() {
      return current.kid;
    },
    header,
    headers: (person, claims) => (person === null ? {} : { 'x-nnumbers-identity': header(person, claims) }),
    sign,
    refused: (person) => listRefused(refused, person),
    verify(unverifiedValue) {
      const claims = openCompact(unverifiedValue, published);
      return claims !== undefined && fits(claims, context) ? claims : undefined;
    },
    jwks,
    rotateKey,
    withdrawKey(kid = current.kid) {
      if (!published.delete(kid)) throw new RangeError('no published key has this ID');
      if (kid === current.kid) rotateKey();
    },
  };
}

const OPTIONS: ReadonlySet<string> = new Set<keyof TestIdentitiesOptions>([
  'appId',
  'organization',
  'issuer',
  'iam',
  'person',
  'now',
]);

function readContext(options: TestIdentitiesOptions): ClaimContext {
  const { now = () => Date.now(), person = testPeople.ana } = options;
  const {
    appId = 'app_test',
    organization = { id: 'org_test', slug: 'test' },
    issuer = 'https://identity.nnumbers.test',
    iam = 'https://iam.nnumbers.test',
  } = options;
  // A test with a misspelt `appId` would be a test of the default one.
  const odd = Object.entries(options).find(([name, value]) => value !== undefined && !OPTIONS.has(name));
  if (odd !== undefined) throw new TypeError(`${odd[0]} is no option`);
  const texts = {
    appId,
    'organization.id': organization.id,
    'organization.slug': organization.slug,
    issuer,
    iam,
  };
  for (const [name, text] of Object.entries(texts)) {
    if (typeof text !== 'string' || text.trim() === '')
      throw new TypeError(`${name} must be a text that is not blank`);
  }
  if (typeof now !== 'function') throw new TypeError('now must be a function');
  return { appId, organization, issuer, iam, person, now };
}

function fits(claims: Readonly<Record<string, unknown>>, context: ClaimContext): boolean {
  const { iss, aud, org, sub, sid, nbf, exp } = claims;
  const now = secondsOf(context.now);
  return (
    iss === context.issuer &&
    aud === context.appId &&
    org === context.organization.id &&
    [sub, sid].every((text) => typeof text === 'string' && text !== '') &&
    typeof nbf === 'number' &&
    typeof exp === 'number' &&
    nbf - toleranceSeconds <= now &&
    now < exp + toleranceSeconds
  );
}
