import { ConfigurationError, type ConfigurationFault, type Person, type Runtime } from '@nn-runtime/core';
import { type Clock, type RandomSource, systemClock, systemRandom } from './clock.js';

/** An application user's credentials for one connection to the engine. */
export interface Credentials {
  /** The provider's name. Null, on purpose, selects the engine's only one. */
  readonly provider: string | null;
  /** The opaque token. It goes into the authentication frame and nowhere else. */
  readonly token: string;
}

/**
 * Gives the NYXDB credentials of a verified person, asked for every relay. Look them up by `organization.id` and `subject`, never by
 * e-mail or by anything a browser sent. Nothing (null, undefined): this person has none, and the relay is closed with 4403.
 */
export type Authenticate = (
  person: Person,
) => Credentials | null | undefined | Promise<Credentials | null | undefined>;

// The one list of names and defaults.
const DEADLINES = {
  handshakeMs: 5_000,
  authMs: 5_000,
  stalledMs: 10_000,
  pingMs: 25_000,
  lifeMs: 900_000,
  drainMs: 10_000,
  closeMs: 2_000,
};
const LIMITS = {
  maxRequestBytes: 1_048_576,
  maxResponseBytes: 16_777_216,
  maxFragments: 64,
  maxHeldFrames: 1,
  maxHeldBytes: 65_536,
  highWaterBytes: 1_048_576,
  lowWaterBytes: 262_144,
  socketsPerPerson: 8,
  maxRelays: 10_000,
};

/**
 * How long anything is waited for, in milliseconds: `handshakeMs` 5,000 (checking the identity; and again the connection to the engine);
 * `authMs` 5,000 (the `authenticate` callback, and again the engine's answer); `stalledMs` 10,000 (a side that takes nothing while the
 * other waits); `pingMs` 25,000 (between pings; two without an answer end the relay); `lifeMs` 900,000 (a relay, ± 10 %); `drainMs` 10,000
 * (requests in flight when it is to end); `closeMs` 2,000 (a closing handshake).
 */
export type Deadlines = Readonly<typeof DEADLINES>;
/**
 * How much of anything is taken: `maxRequestBytes` 1 MiB and `maxResponseBytes` 16 MiB (one payload); `maxFragments` 64 (of one message);
 * `maxHeldFrames` 1 and `maxHeldBytes` 65,536 (from the client, before the engine is ready); `highWaterBytes` 1 MiB and `lowWaterBytes`
 * 256 KiB (unsent on one side: the other is paused, and resumed); `socketsPerPerson` 8; `maxRelays` 10,000 (in this edge).
 */
export type Limits = Readonly<typeof LIMITS>;

type Some<T> = { readonly [K in keyof T]?: T[K] | undefined };

/** Options of `createNyxdbEdge`. */
export interface NyxdbEdgeOptions {
  /** Checks the identity of every upgrade request. */
  readonly runtime: Runtime;
  /** The path the edge answers upgrades at, such as `/live`; compared as it stands, query aside. */
  readonly path: string;
  /** The engine: `wss:`, or `ws:` on loopback or with `trustedNetwork: true`. No user, no query, no fragment. */
  readonly upstream: string | URL;
  /** The pages that may connect: `scheme://host[:port]`, exact. CORS does not cover WebSocket, and the engine has no such list. */
  readonly origins: readonly string[];
  /**
   * Says that the engine was started with `--require-auth`. Nothing on the wire proves it, so whoever operates the engine has to write it
   * here (contract, "Security checklist": a missing flag is a launch-blocking error).
   */
  readonly engineRequiresAuth: true;
  /** Given: the edge authenticates for the person, and no client may. Absent: clients authenticate themselves, through the edge. */
  readonly authenticate?: Authenticate | undefined;
  /** Lets requests without a person pass, where clients authenticate themselves. Default false. */
  readonly allowAnonymous?: boolean | undefined;
  /** Lets requests without an Origin pass: clients that are no browsers. Default false. */
  readonly allowMissingOrigin?: boolean | undefined;
  /** Lets operation 0x0F pass, where clients authenticate themselves. Default false. */
  readonly allowCapability?: boolean | undefined;
  /** Whether a peer address may connect. Behind a proxy it is the proxy's. Default: every one. */
  readonly allowRemote?: ((address: string) => boolean) | undefined;
  /** Allows `ws:` to an engine that is not on loopback, where the network between is trusted. Default false. */
  readonly trustedNetwork?: boolean | undefined;
  /** See {@link Limits}. */
  readonly limits?: Some<Limits> | undefined;
  /** See {@link Deadlines}. */
  readonly deadlines?: Some<Deadlines> | undefined;
  /** Time, for tests. Default the host's monotonic clock. */
  readonly clock?: Clock | undefined;
  /** Randomness, for tests. Default the host's. */
  readonly random?: RandomSource | undefined;
}

/** Options, checked and complete. Internal. */
export interface Settings {
  readonly runtime: Runtime;
  readonly path: string;
  readonly upstream: string;
  readonly origins: ReadonlySet<string>;
  readonly authenticate: Authenticate | undefined;
  readonly allowAnonymous: boolean;
  readonly allowMissingOrigin: boolean;
  readonly allowCapability: boolean;
  readonly allowRemote: (address: string) => boolean;
  readonly limits: Limits;
  readonly deadlines: Deadlines;
  readonly clock: Clock;
  readonly random: RandomSource;
}

const LOOPBACK = /^(?:(?:.+\.)?localhost|127(?:\.\d+){3}|\[::1\])$/;
// A path as it stands in a request line; what lies under /.nnumbers/ never reaches the application.
const PATH = /^\/(?!\.nnumbers(?:\/|$))[\w.~!$&'()*+,;=:@%/-]*$/;
/** What a timer of Node waits at most; asked for more, it does not wait at all. */
export const LARGEST_TIMER_MS = 2 ** 31 - 1;

const upstreamProblem = (unchecked: unknown, isTrusted: boolean): string | undefined => {
  const text = String(unchecked);
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^wss?:$/.test(url.protocol)) return 'must be a ws: or wss: URL';
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '')
    return 'must have no user, query or fragment';
  if (url.protocol === 'ws:' && !isTrusted && !LOOPBACK.test(url.hostname))
    return 'must be wss: off loopback (or trustedNetwork: true)';
  return undefined;
};

const isOrigin = (unchecked: unknown): boolean =>
  typeof unchecked === 'string' &&
  /^https?:/.test(unchecked) &&
  URL.canParse(unchecked) &&
  new URL(unchecked).origin === unchecked;

const originsProblem = (unchecked: unknown, mayBeEmpty: boolean): string | undefined => {
  if (!Array.isArray(unchecked)) return 'must be an array of origins';
  if (unchecked.length === 0 && !mayBeEmpty) return 'must name at least one origin';
  return unchecked.every(isOrigin)
    ? undefined
    : 'must be origins as browsers send them, such as https://app.example';
};

const KNOWN = new Set([
  ...['runtime', 'path', 'upstream', 'origins', 'engineRequiresAuth', 'authenticate', 'allowAnonymous'],
  ...[
    'allowMissingOrigin',
    'allowCapability',
    'allowRemote',
    'trustedNetwork',
    'limits',
    'deadlines',
    'clock',
    'random',
  ],
]);

/** @throws ConfigurationError (of `@nn-runtime/core`) naming every fault at once, never a value. */
export function readOptions(unchecked: NyxdbEdgeOptions): Settings {
  // As a JavaScript caller may give it.
  const given: Readonly<Partial<Record<keyof NyxdbEdgeOptions, unknown>>> = unchecked ?? {};
  const faults: ConfigurationFault[] = [];
  const must = (holds: boolean, name: string, problem: string): void => {
    if (!holds) faults.push({ name, problem });
  };
  const check = (name: string, problem: string | undefined): void =>
    must(problem === undefined, name, problem ?? '');
  const flag = (name: keyof NyxdbEdgeOptions): boolean => {
    const value = given[name];
    must(value === undefined || typeof value === 'boolean', name, 'must be true or false');
    return value === true;
  };
  const aFunction = (name: keyof NyxdbEdgeOptions): void =>
    must(given[name] === undefined || typeof given[name] === 'function', name, 'must be a function');
  const numbers = <T extends Record<string, number>>(
    name: string,
    defaults: T,
    some: unknown,
  ): Readonly<T> => {
    const result: Record<string, number> = { ...defaults };
    must(some === undefined || (typeof some === 'object' && some !== null), name, 'must be an object');
    for (const [key, value = defaults[key]] of Object.entries(some ?? {})) {
      const isKnown = Object.hasOwn(defaults, key);
      must(isKnown, `${name}.${key}`, 'is no option');
      const isFit = Number.isInteger(value) && value >= 1 && value <= LARGEST_TIMER_MS;
      must(!isKnown || isFit, `${name}.${key}`, `must be an integer from 1 to ${LARGEST_TIMER_MS}`);
      result[key] = value;
    }
    return result as T;
  };

  must(
    typeof (given.runtime as Partial<Runtime> | undefined)?.authenticate === 'function',
    'runtime',
    'is missing: the runtime of createRuntime(), or of the nnumbers plugin or middleware',
  );
  must(typeof given.path === 'string' && PATH.test(given.path), 'path', 'must be a path such as /live');
  const trustedNetwork = flag('trustedNetwork');
  check('upstream', upstreamProblem(given.upstream, trustedNetwork));
  const allowMissingOrigin = flag('allowMissingOrigin');
  check('origins', originsProblem(given.origins, allowMissingOrigin));
  must(
    given.engineRequiresAuth === true,
    'engineRequiresAuth',
    'must be true: start NYXDB with --require-auth, then say so here',
  );
  aFunction('authenticate');
  const allowAnonymous = flag('allowAnonymous');
  const allowCapability = flag('allowCapability');
  if (given.authenticate !== undefined) {
    const alone = 'is only for clients that authenticate themselves: leave out authenticate';
    must(!allowAnonymous, 'allowAnonymous', alone);
    must(!allowCapability, 'allowCapability', alone);
  }
  aFunction('allowRemote');
  const limits = numbers('limits', LIMITS, given.limits);
  must(
    limits.lowWaterBytes <= limits.highWaterBytes,
    'limits.lowWaterBytes',
    'must not be over limits.highWaterBytes',
  );
  const deadlines = numbers('deadlines', DEADLINES, given.deadlines);
  for (const key of Object.keys(given)) must(KNOWN.has(key), key, 'is no option');
  if (faults.length > 0) throw new ConfigurationError(faults);

  const { runtime, path, upstream, origins, authenticate, allowRemote, clock, random } = unchecked;
  return {
    runtime,
    path,
    upstream: new URL(upstream).href,
    origins: new Set(origins),
    authenticate,
    allowAnonymous,
    allowMissingOrigin,
    allowCapability,
    allowRemote: allowRemote ?? (() => true),
    limits,
    deadlines,
    clock: clock ?? systemClock,
    random: random ?? systemRandom,
  };
}
