import { encodeText } from './encode.js';
import { EndpointError, type EndpointErrorCode, type ProfileName } from './errors.js';
import { execute } from './execute.js';
import { createLink } from './link.js';
import {
  type Authentication,
  checkAuthenticate,
  type EndpointClientOptions,
  type Host,
  numbers,
  readOptions,
} from './options.js';
import { callText } from './payload.js';
import { createPool } from './pool.js';
import { must } from './require.js';
import { type EndpointResult, toResult, toSchemaResult } from './result.js';
import type { SchemaOutput, StandardSchemaV1 } from './schema.js';
import { Scope } from './scope.js';
import { openSubscription, type Subscription } from './subscription.js';

/** Options of `execute`. */
export interface ExecuteOptions<S extends StandardSchemaV1 | undefined = undefined> {
  /** Gives the call up: it rejects at once with CANCELLED, and the engine is asked to cancel. */
  readonly signal?: AbortSignal | undefined;
  /** The whole call, in milliseconds. Default `deadlines.totalMs`. */
  readonly timeoutMs?: number | undefined;
  /** Any Standard Schema: each row is validated as an object by column name, and `objects()` gives its outputs. */
  readonly row?: S;
}

/** What `info()` tells: nothing secret. */
export interface EndpointClientInfo {
  /** The engine profile in use. */
  readonly profile: ProfileName;
  /** Sockets by state. */
  readonly sockets: {
    readonly connecting: number;
    readonly authenticating: number;
    readonly ready: number;
    readonly busy: number;
    readonly draining: number;
  };
  /** Calls that wait for a socket. */
  readonly waiting: number;
}

/** A client of published endpoints. */
export interface EndpointClient {
  /**
   * Runs a published endpoint, or a granted logical view by name or relation UUID, once (contract, "Execute a published
   * query").
   *
   * @param parameters - client parameters in declaration order, as text; claims are the server's to append. Default none.
   * @throws EndpointError; EndpointRowError; TypeError for wrong arguments, before anything is sent.
   */
  execute<S extends StandardSchemaV1 | undefined = undefined>(
    endpoint: string,
    parameters?: readonly string[],
    options?: ExecuteOptions<S>,
  ): Promise<EndpointResult<S extends StandardSchemaV1 ? SchemaOutput<S> : Record<string, string>>>;
  /**
   * Subscribes to a published stream endpoint, or to a granted view, on a socket of its own.
   *
   * @throws EndpointError, at once: UNSUPPORTED_BY_PROFILE (the documented profile knows no subscriptions), CLOSED, or CANCELLED
   * for a signal already aborted. TypeError for wrong arguments. Whatever comes later ends the iteration.
   */
  subscribe(
    endpoint: string,
    parameters?: readonly string[],
    options?: { readonly signal?: AbortSignal | undefined },
  ): Subscription;
  /**
   * Changes the principal: every socket of the former one is closed, and what was pending ends in AUTH_CHANGED. A socket is
   * never authenticated twice (contract, "Connection sequence").
   */
  setAuthenticate(authenticate: Authentication): void;
  /**
   * For a policy change that an operator announced: refuses new calls, ends subscriptions, lets calls finish, closes.
   * Go on with a new client once the reviewed definition is active.
   */
  drain(): Promise<void>;
  /** The profile and the sockets by state. */
  info(): EndpointClientInfo;
  /** Ends every pending call in CLOSED and closes every socket. Resolves when they are closed; never rejects. */
  close(): Promise<void>;
}

/**
 * A client of NYXDB endpoints over WebSocket. Opens nothing until the first call.
 *
 * @throws TypeError for wrong or unknown options, or a host without WebSocket.
 */
export const createEndpointClient = (options: EndpointClientOptions): EndpointClient =>
  createClient(options, {});

/** The client, with what its door brings along. Internal. */
export function createClient(options: EndpointClientOptions, host: Host): EndpointClient {
  const settings = readOptions(options, host);
  const { clock, deadlines, emit, limits, profile } = settings;
  const link = createLink(settings, options.authenticate);
  const pool = createPool(link);
  const calls = new Set<Promise<unknown>>();
  const subscriptions = new Set<Subscription>();

  /** Everything that can be refused before anything is opened. */
  function prepare(endpoint: string, parameters: readonly string[], signal: AbortSignal | undefined) {
    const payload = encodeText(callText(endpoint, parameters));
    must(payload.length <= limits.maxRequestBytes, 'over limits.maxRequestBytes');
    if (link.closed) throw link.error({ code: 'CLOSED' }, 'not-sent');
    if (signal?.aborted) throw link.error({ code: 'CANCELLED', cause: signal.reason }, 'not-sent');
    return payload;
  }

  async function run(
    endpoint: string,
    parameters: readonly string[],
    { row, signal, timeoutMs = deadlines.totalMs }: ExecuteOptions<StandardSchemaV1 | undefined>,
  ) {
    // For its refusal alone: the value is known.
    numbers('options', { timeoutMs }, { timeoutMs });
    const payload = prepare(endpoint, parameters, signal);
    const scope = new Scope(link, signal);
    const stop = clock.after(timeoutMs, () => scope.end({ code: 'DEADLINE_EXCEEDED', phase: 'total' }));
    const startedMs = clock.now();
    let sends = 0;
    let code: EndpointErrorCode | undefined;
    try {
      const table = await execute(link, pool, payload, scope, startedMs + timeoutMs, () => sends++);
      if (!row) return toResult(table);
      // A schema may wait for whatever it likes: the call ends in time all the same.
      return await link.within(scope, timeoutMs, 'total', 'completed', toSchemaResult(table, row));
    } catch (error) {
      // Of a wrong argument, or of what a schema threw, nothing is told.
      if (error instanceof EndpointError) code = error.code;
      throw error;
    } finally {
      emit({ name: 'call-ended', code, durationMs: clock.now() - startedMs, sends });
      stop();
      scope.leave();
    }
  }

  async function close(): Promise<void> {
    link.closed = true;
    const closed = [...link.channels].map((channel) => channel.closed);
    link.endAll({ code: 'CLOSED' });
    await Promise.all(closed);
  }

  return {
    execute(endpoint, parameters = [], options = {}) {
      const call = run(endpoint, parameters, options).finally(() => calls.delete(call));
      calls.add(call);
      // The type of the answer follows the option, which the compiler cannot see through.
      return call as never;
    },
    subscribe(endpoint, parameters = [], { signal } = {}) {
      const { subscription } = profile;
      const payload = prepare(endpoint, parameters, signal);
      if (!subscription) throw link.error({ code: 'UNSUPPORTED_BY_PROFILE' }, 'not-sent');
      return openSubscription(link, subscription, payload, signal, subscriptions);
    },
    setAuthenticate(authenticate) {
      link.authenticate = checkAuthenticate(authenticate);
      link.endAll({ code: 'AUTH_CHANGED' });
    },
    async drain() {
      link.closed = true;
      for (const subscription of subscriptions) void subscription.close();
      await Promise.allSettled(calls);
      await close();
    },
    info() {
      const sockets = { connecting: 0, authenticating: 0, ready: 0, busy: 0, draining: 0 };
      for (const { state } of link.channels) if (state !== 'dead') sockets[state]++;
      return { profile: link.profileName, sockets, waiting: pool.waiting() };
    },
    close,
  };
}
