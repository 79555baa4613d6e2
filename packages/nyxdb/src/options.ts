import { type Clock, type RandomSource, systemClock, systemRandom } from './clock.js';
import type { ClientEvent } from './events.js';
import { documentedProfile, type EngineProfile } from './profile.js';
import { must } from './require.js';
import { hostWebSocket, type WebSocketFactory } from './websocket.js';

/** An application user's credentials for one socket. */
export interface Credentials {
  /** The provider's name. Null, on purpose, selects the engine's only one; naming it stays right when more are added. */
  readonly provider: string | null;
  /** The opaque token. It goes into the authentication frame and nowhere else. */
  readonly token: string;
}

/** Asked for every socket, so that a renewed token is used from the next socket on. */
export type Authenticate = () => Credentials | Promise<Credentials>;

/**
 * Who authenticates: this client, with what the callback gives for every socket, or, as `'edge'`, the relay of `@nn-runtime/nyxdb-edge` at
 * `url`, for who signed in. Then the client holds no token and sends no OP_AUTH; it offers the subprotocol `nyxdb.edge-auth.v1`, so that
 * nothing but such an edge is spoken to.
 */
export type Authentication = Authenticate | 'edge';

// Design N1 and N2: the one list of names and defaults.
const DEADLINES = {
  connectMs: 5_000,
  authMs: 5_000,
  responseMs: 30_000,
  totalMs: 60_000,
  idleMs: 60_000,
  snapshotMs: 15_000,
  quietMs: 0,
  cancelMs: 5_000,
};
const LIMITS = {
  maxRequestBytes: 1_048_576,
  maxResponseBytes: 16_777_216,
  maxRows: 1_000_000,
  maxColumns: 1_024,
  maxQueuedFrames: 1_024,
  maxQueuedBytes: 8_388_608,
  poolSize: 4,
  maxWaiting: 64,
};
const BACKOFF = {
  baseMs: 250,
  maxMs: 15_000,
  resetAfterMs: 10_000,
  totalMs: 300_000,
  rebuildsPerMinute: 5,
  busyAttempts: 5,
};
/** How long a closing handshake is waited for: undici, for one, waits for ever. */
export const CLOSE_MS = 2_000;
// Revoked tokens are remembered so that none opens a socket again; a client that meets more of them has other troubles.
export const MAX_REVOKED = 64;

/**
 * How long anything is waited for, in milliseconds: `connectMs` 5,000; `authMs` 5,000 (the callback, and again the engine's
 * answer); `responseMs` 30,000; `totalMs` 60,000 (a whole call); `idleMs` 60,000 (a pooled socket); `snapshotMs` 15,000 (the
 * first snapshot); `quietMs` 0 (off; when set, a silent subscription is rebuilt after it); `cancelMs` 5,000 (the
 * acknowledgement of a cancellation, and again the terminal answer after it).
 */
export type Deadlines = Readonly<typeof DEADLINES>;
/**
 * How much of anything is accepted: `maxRequestBytes` 1 MiB and `maxResponseBytes` 16 MiB (one payload); `maxRows` 1,000,000;
 * `maxColumns` 1,024; `maxQueuedFrames` 1,024 and `maxQueuedBytes` 8 MiB (frames of one subscription not yet applied: never
 * reached, since each is applied as it arrives);
 * `poolSize` 4 sockets for one-shot calls; `maxWaiting` 64 calls waiting for one.
 */
export type Limits = Readonly<typeof LIMITS>;
/**
 * How failures are repeated: `baseMs` 250 doubled up to `maxMs` 15,000, with full jitter; `resetAfterMs` 10,000 (an
 * authenticated socket that lived so long starts afresh); `totalMs` 300,000 (a subscription without a connection);
 * `rebuildsPerMinute` 5; `busyAttempts` 5 sends of a call in all.
 */
export type Backoff = Readonly<typeof BACKOFF>;

type Some<T> = { readonly [K in keyof T]?: T[K] | undefined };

/** Options of `createEndpointClient`. */
export interface EndpointClientOptions {
  /**
   * Where the endpoint listens: `wss:`, or `ws:` on loopback. In a page, a path such as `/live` is of the page's own origin.
   * Never put a token in it.
   */
  readonly url: string | URL;
  /** Gives provider and token, asked for every socket under `deadlines.authMs`; or `'edge'`. See {@link Authentication}. */
  readonly authenticate: Authentication;
  /** What is known of the engine. Default `documentedProfile`. */
  readonly profile?: EngineProfile | undefined;
  /** Makes a socket. Default `globalThis.WebSocket`; `@nn-runtime/nyxdb/node` has ws wired in. */
  readonly webSocket?: WebSocketFactory | undefined;
  /** See {@link Limits}. */
  readonly limits?: Some<Limits> | undefined;
  /** See {@link Deadlines}. */
  readonly deadlines?: Some<Deadlines> | undefined;
  /** See {@link Backoff}. */
  readonly backoff?: Some<Backoff> | undefined;
  /** Allows a development profile with a URL that is not loopback. Default false. */
  readonly allowDevelopmentProfile?: boolean | undefined;
  /** Allows `ws:` off loopback, where the network itself is trusted. Default false. */
  readonly trustedNetwork?: boolean | undefined;
  /**
   * Told what happened, in a microtask after it: names, counts and durations, never a token, a parameter or a cell. It may call the
   * client. What it throws, or rejects with, is ignored.
   */
  readonly onEvent?: ((event: ClientEvent) => void) | undefined;
  /** Time, for tests. Default the host's monotonic clock. */
  readonly clock?: Clock | undefined;
  /** Randomness, for tests. Default the host's `crypto.getRandomValues`. */
  readonly random?: RandomSource | undefined;
}

/** What a door of this package brings along. Internal. */
export interface Host {
  /** The host's best WebSocket, when the application names none. */
  readonly webSocket?: (limits: Limits, clock: Clock) => WebSocketFactory;
  /** Hears every event besides the application's own observer. */
  readonly emit?: (event: ClientEvent) => void;
}

/** Options, checked and complete. Internal. */
export interface Settings {
  readonly url: string;
  readonly profile: EngineProfile;
  readonly webSocket: WebSocketFactory;
  readonly limits: Limits;
  readonly deadlines: Deadlines;
  readonly backoff: Backoff;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly emit: (event: ClientEvent) => void;
}

/** @throws TypeError for what is no option, no number, or no number of them. */
export function numbers<T extends Record<string, number>>(
  what: string,
  defaults: T,
  given: Some<T> = {},
): Readonly<T> {
  const result: Record<string, number> = { ...defaults };
  for (const [name, value = defaults[name]] of Object.entries<number | undefined>(given)) {
    // A longer timer fires at once: hosts keep the delay in 31 bits. A pool of nothing would serve nobody, and a call
    // needs some time.
    const least = +/Size|timeout/.test(name);
    must(
      Object.hasOwn(defaults, name) && typeof value === 'number' && value >= least && value < 2 ** 31,
      `${what}.${name} is no option or out of range`,
    );
    result[name] = value;
  }
  return result as T;
}

const LOOPBACK = /(^|\.)localhost$|^127(\.\d+){3}$|^\[::1]$/;

const BAD_URL = 'url must be ws: or wss:';

function readUrl(unchecked: string | URL, isTrusted: boolean, isAnywhere: boolean): string {
  const base = globalThis.location?.href;
  must(URL.canParse(unchecked, base), BAD_URL);
  const url = new URL(unchecked, base);
  // A page's own origin, as newer browsers do for `new WebSocket('/path')`.
  url.protocol = url.protocol.replace(/^http/, 'ws');
  const { hostname, password, protocol, username } = url;
  must(/^wss?:$/.test(protocol) && !(username || password), BAD_URL);
  if (!LOOPBACK.test(hostname)) {
    must(protocol === 'wss:' || isTrusted, 'url must be wss: or trustedNetwork: true');
    must(isAnywhere, 'allowDevelopmentProfile must be true off loopback');
  }
  return url.href;
}

/** @throws TypeError for what is neither a function nor `'edge'`. */
export function checkAuthenticate(unchecked: Authentication): Authentication {
  must(unchecked === 'edge' || typeof unchecked === 'function', "authenticate must be a function or 'edge'");
  return unchecked;
}

/** @throws TypeError for the first wrong or unknown option. */
export function readOptions(options: EndpointClientOptions, host: Host): Settings {
  const {
    url,
    authenticate,
    profile = documentedProfile,
    webSocket,
    limits: someLimits,
    deadlines,
    backoff,
    allowDevelopmentProfile,
    trustedNetwork,
    onEvent,
    clock = systemClock,
    random = systemRandom(),
    ...unknown
  } = options;
  const [odd] = Object.keys(unknown);
  must(odd === undefined, `${odd} is no option`);
  checkAuthenticate(authenticate);
  must(profile?.errors, 'profile is none');
  const limits = numbers('limits', LIMITS, someLimits);
  return {
    url: readUrl(
      url,
      trustedNetwork === true,
      profile.provenance !== 'development' || allowDevelopmentProfile === true,
    ),
    profile,
    webSocket: webSocket ?? host.webSocket?.(limits, clock) ?? hostWebSocket(),
    limits,
    deadlines: numbers('deadlines', DEADLINES, deadlines),
    backoff: numbers('backoff', BACKOFF, backoff),
    clock,
    random,
    // Not from within: an observer may call the client, which is between two states there. Nor may it change what it observes, by
    // what it throws or, when it is asynchronous, by a rejection that nobody handles: that would end the process.
    emit: async (event) => {
      try {
        await undefined;
        host.emit?.(event);
        await onEvent?.(event);
      } catch {}
    },
  };
}
