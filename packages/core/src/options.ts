import { setTimeout } from 'node:timers/promises';
import { z } from 'zod';
import { ConfigurationError, type ConfigurationFault, type RefusalReason } from './errors.js';
import type { HttpClient } from './http-client.js';
import { type KeySetProblem, readKeySet, type VerificationJwk } from './key-set.js';
import { problemOfRetry, type RetryOptions } from './query.js';
import { KEY_SET_PATH, MAX_CLOCK_TOLERANCE_SECONDS, QUERY_PATH } from './wire.js';

/** An identity that was refused. */
export interface Refusal {
  /** Why, for logs and metrics; a client is never told. */
  readonly reason: RefusalReason;
  /** 401, or 503 for `keys-unavailable`. */
  readonly statusCode: number;
}

/** What a caller may set. Everything has a default; the platform sets the environment. */
export interface RuntimeOptions {
  /**
   * Where the five NNUMBERS_* variables are read from: NNUMBERS_IDENTITY_JWKS (a JWK set as JSON, or an http(s) address of one),
   * NNUMBERS_BROKER_URL, NNUMBERS_IDENTITY_ISSUER, NNUMBERS_APP_ID, NNUMBERS_ORG_ID. Read once. Default `process.env`.
   */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** How far the platform's clock and this one may differ, in seconds, 0 to 60. Default 60. */
  readonly clockToleranceSeconds?: number | undefined;
  /** How many verified identities are kept, least recently used out first; 0 keeps none. Default 10,000. */
  readonly maxIdentities?: number | undefined;
  /** Largest QueryMesh answer that is read, in bytes after decompression. Default 268,435,456 (256 MiB). */
  readonly maxResponseBytes?: number | undefined;
  /** How long a query may take when its call does not say, in milliseconds. Default 120,000. */
  readonly timeoutMs?: number | undefined;
  /** Whether queries that were refused for the moment are sent again, when their call does not say. Default: they are not. */
  readonly retry?: RetryOptions | undefined;
  /** How many queries may be under way at once. Default 64. */
  readonly maxConcurrentQueries?: number | undefined;
  /** How many more may wait for their turn; one more is QUERYMESH_UNAVAILABLE at once. Default 256. */
  readonly maxQueuedQueries?: number | undefined;
  /** How long one may wait for its turn, in milliseconds, before it is QUERYMESH_UNAVAILABLE. Default 5,000. */
  readonly maxQueueMs?: number | undefined;
  /** How long one question for the broker's keys may take, headers and body together, in milliseconds, at most 5,000. Default 5,000. */
  readonly keySetTimeoutMs?: number | undefined;
  /**
   * The HTTP client. Default: one of the runtime's own, whose connections are kept alive and closed by `close()`. It goes through no proxy
   * and heeds no dispatcher of `globalThis.fetch`; hand `fetch` in to have those.
   */
  readonly fetch?: typeof globalThis.fetch | undefined;
  /** The clock, in milliseconds since the epoch. Default `Date.now`. */
  readonly now?: (() => number) | undefined;
  /** Randomness in [0, 1), for the jitter of pauses. Default `Math.random`. */
  readonly random?: (() => number) | undefined;
  /** How to wait before a query is sent again, for tests; must end early, in any way, when the signal aborts. Default: a timer. */
  readonly wait?: ((milliseconds: number, signal: AbortSignal) => Promise<void>) | undefined;
  /** Told of every refused identity. What it throws or rejects with is reported as a process warning and changes nothing. */
  readonly onRefused?: ((refusal: Refusal) => void) | undefined;
}

/** Options and environment, checked. */
export interface Configuration {
  readonly issuer: string;
  readonly applicationId: string;
  readonly organizationId: string;
  readonly environmentKeys: ReadonlyMap<string, VerificationJwk>;
  readonly environmentKeyProblems: readonly KeySetProblem[];
  readonly keySetUrl: string;
  readonly queryUrl: string;
  readonly clockToleranceSeconds: number;
  readonly maxIdentities: number;
  readonly maxResponseBytes: number;
  readonly timeoutMs: number;
  readonly retry: RetryOptions | undefined;
  readonly maxConcurrentQueries: number;
  readonly maxQueuedQueries: number;
  readonly maxQueueMs: number;
  readonly wait: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  readonly keySetTimeoutMs: number;
  /** The caller's own, if any. */
  readonly fetch: HttpClient | undefined;
  readonly now: () => number;
  readonly random: () => number;
  readonly onRefused: (refusal: Refusal) => void;
}

const LARGEST_TIMER_MS = 2_147_483_647;

const aFunction = <F>() => z.custom<F>((value) => typeof value === 'function', 'must be a function');
const count = (minimum: number, maximum: number) => {
  const message = `must be an integer from ${minimum} to ${maximum}`;
  return z.int(message).min(minimum, message).max(maximum, message);
};
const tolerance = `must be a number of seconds from 0 to ${MAX_CLOCK_TOLERANCE_SECONDS}`;

// The generator is the caller's. A pause of NaN would be over never, or at once: what is out of range counts as its end.
const withinUnit = (random: () => number) => (): number => {
  const drawn = random();
  return drawn >= 0 && drawn < 1 ? drawn : 1;
};

const optionsSchema = z.strictObject({
  clockToleranceSeconds: z
    .number(tolerance)
    .min(0, tolerance)
    .max(MAX_CLOCK_TOLERANCE_SECONDS, tolerance)
    .default(MAX_CLOCK_TOLERANCE_SECONDS),
  maxIdentities: count(0, 10_000_000).default(10_000),
  maxResponseBytes: count(1, 2 ** 31 - 1).default(256 * 1024 * 1024),
  timeoutMs: count(1, LARGEST_TIMER_MS).default(120_000),
  retry: z
    .custom<RetryOptions>()
    .check((context) => {
      const message = problemOfRetry(context.value);
      if (message !== undefined) context.issues.push({ code: 'custom', message, input: undefined });
    })
    .optional(),
  maxConcurrentQueries: count(1, 100_000).default(64),
  maxQueuedQueries: count(0, 1_000_000).default(256),
  maxQueueMs: count(1, LARGEST_TIMER_MS).default(5_000),
  wait: aFunction<Configuration['wait']>().default(
    () => (milliseconds: number, signal: AbortSignal) => setTimeout(milliseconds, undefined, { signal }),
  ),
  keySetTimeoutMs: count(1, 5_000).default(5_000),
  fetch: aFunction<HttpClient>().optional(),
  now: aFunction<() => number>().default(() => Date.now),
  random: aFunction<() => number>()
    .default(() => Math.random)
    .transform(withinUnit),
  onRefused: aFunction<(refusal: Refusal) => void>().default(() => () => undefined),
});

// Trimmed: paths are put behind it, so a blank or line end from a file of variables would only show at the first request.
const address = z
  .string('is missing')
  .trim()
  .check((context) => {
    const problem = addressProblem(context.value) ?? queryProblem(context.value);
    if (problem !== undefined) context.issues.push({ code: 'custom', message: problem, input: undefined });
  });
const present = z.string('is missing').refine((value) => value.trim() !== '', 'is empty');

const environmentSchema = z.object(
  {
    NNUMBERS_IDENTITY_JWKS: present,
    NNUMBERS_BROKER_URL: address,
    NNUMBERS_IDENTITY_ISSUER: present,
    NNUMBERS_APP_ID: present,
    NNUMBERS_ORG_ID: present,
  },
  'must be an object of variables',
);

/**
 * Checks options and environment.
 * @throws ConfigurationError naming every fault at once, never a value.
 */
export function readConfiguration(options: RuntimeOptions = {}): Configuration {
  const given = optionsSchema.safeParse(settingsOf(options));
  const environment = environmentSchema.safeParse(options.env ?? process.env);
  const keys = readEnvironmentKeys(
    environment.success
      ? environment.data.NNUMBERS_IDENTITY_JWKS
      : (options.env ?? process.env).NNUMBERS_IDENTITY_JWKS,
  );
  if (!given.success || !environment.success || 'problem' in keys) {
    throw new ConfigurationError([
      ...faultsOf(environment),
      ...('problem' in keys ? [{ name: 'NNUMBERS_IDENTITY_JWKS', problem: keys.problem }] : []),
      ...faultsOf(given),
    ]);
  }
  const brokerUrl = environment.data.NNUMBERS_BROKER_URL.replace(/\/+$/, '');
  return {
    ...given.data,
    retry: given.data.retry,
    fetch: given.data.fetch,
    issuer: environment.data.NNUMBERS_IDENTITY_ISSUER,
    applicationId: environment.data.NNUMBERS_APP_ID,
    organizationId: environment.data.NNUMBERS_ORG_ID,
    environmentKeys: keys.keys,
    environmentKeyProblems: keys.problems,
    keySetUrl: keys.url ?? brokerUrl + KEY_SET_PATH,
    queryUrl: brokerUrl + QUERY_PATH,
  };
}

function settingsOf({ env, ...settings }: RuntimeOptions): Record<string, unknown> {
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined));
}

function faultsOf(result: z.ZodSafeParseResult<unknown>): ConfigurationFault[] {
  return (result.error?.issues ?? []).flatMap((issue) =>
    issue.code === 'unrecognized_keys'
      ? // A misspelt tolerance would be the largest one, without a word.
        issue.keys.map((name) => ({ name, problem: 'is no option' }))
      : // Without a path the whole environment is wrong; options are always an object here.
        [{ name: issue.path.join('.') || 'env', problem: issue.message }],
  );
}

function addressProblem(text: string): string | undefined {
  if (text === '') return 'is empty';
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) return 'must be an http(s) URL';
  // fetch refuses credentials in a URL, at the first request; say so at the start.
  if (url.username !== '' || url.password !== '') return 'must not hold credentials';
  return undefined;
}

// The paths of the operations are put behind this address: a query or fragment would swallow them.
function queryProblem(text: string): string | undefined {
  return /[?#]/.test(text) ? 'must not have a query or a fragment' : undefined;
}

type EnvironmentKeys =
  | { keys: ReadonlyMap<string, VerificationJwk>; problems: readonly KeySetProblem[]; url?: string }
  | { problem: string };

// What cannot be right in the trust root, which nobody refreshes, stops the start; what is merely of no use is left out.
function readEnvironmentKeys(text: string | undefined): EnvironmentKeys {
  // Missing or empty: the schema has said so.
  if (typeof text !== 'string' || text.trim() === '') return { keys: new Map(), problems: [] };
  if (/^\s*https?:/i.test(text)) {
    const problem = addressProblem(text);
    return problem === undefined ? { keys: new Map(), problems: [], url: text.trim() } : { problem };
  }
  const set = readKeySet(Buffer.from(text, 'utf8'));
  if (set === undefined)
    return { problem: 'must be a JWK set as JSON ({"keys":[…]}), or an http(s) URL of one' };
  if (set.problems.includes('private-key')) return { problem: 'holds a private key' };
  if (set.problems.includes('off-curve-point')) return { problem: 'holds a key whose point is not on P-256' };
  if (set.keys.size === 0) return { problem: 'holds no usable P-256 signing key with a key ID' };
  return { keys: set.keys, problems: set.problems };
}
