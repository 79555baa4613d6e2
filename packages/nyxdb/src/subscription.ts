import { backoffMs } from './backoff.js';
import { openChannel } from './connect.js';
import type { Bytes } from './encode.js';
import { EndpointError, isPassing } from './errors.js';
import type { Link } from './link.js';
import type { SubscriptionProfile } from './profile.js';
import { createReplica } from './replica.js';
import { Scope } from './scope.js';
import { streamInto } from './stream.js';

/** The whole result of a published stream after one of its frames. */
export interface SubscriptionState {
  /** `snapshot` when everything may have changed since the state given before. */
  readonly kind: 'snapshot' | 'delta';
  /** Column names, in the engine's order. */
  readonly columns: readonly string[];
  /** Every row of the replica after the frame, copied when first read; later frames do not change it. */
  readonly rows: readonly (readonly string[])[];
  /** Counts snapshots, from 1: another number means that what lay between is unknown. */
  readonly generation: number;
  /**
   * Whether the table may have changed unseen: true only in `latest()`, after a loss, a failure or `close()`. The stream's own
   * end leaves a state that is not stale: its last.
   */
  readonly stale: boolean;
}

/**
 * A live subscription. Iterating gives the newest state each time: a slow reader skips states, and nothing queues. The
 * iteration ends without an error at the stream's own end, at `close()`, at `break` (which closes) and at `client.close()`;
 * it throws an EndpointError for anything final, to every reader. Lost connections are opened again and start with a new
 * snapshot: the engine has no resume (contract, "Reconnect and reconciliation").
 */
export interface Subscription extends AsyncIterableIterator<SubscriptionState, undefined, undefined> {
  /**
   * `connecting` before the first snapshot, `live`, `stale` after a loss until the next snapshot, `ended` on purpose, `failed`
   * for good.
   */
  readonly state: 'connecting' | 'live' | 'stale' | 'ended' | 'failed';
  /** The newest state; undefined before the first snapshot. */
  latest(): SubscriptionState | undefined;
  /**
   * Ends the subscription by closing its socket (contract: a subscription is not a target of cancel). Resolves when the socket is
   * closed; never rejects.
   */
  close(): Promise<void>;
  return(): Promise<IteratorResult<SubscriptionState, undefined>>;
  [Symbol.asyncIterator](): Subscription;
  [Symbol.asyncDispose](): Promise<void>;
}

// An impossible delta (not one outside the grammar): the stream may be sound, but this replica of it is not.
const REBUILT = /^delta-[^g]/;

export function openSubscription(
  link: Link,
  profile: SubscriptionProfile,
  payload: Bytes,
  signal: AbortSignal | undefined,
  subscriptions: Set<Subscription>,
): Subscription {
  const { backoff, clock, emit, random } = link;
  const scope = new Scope(link, signal);
  const replica = createReplica();
  let over: 'ended' | 'failed' | undefined;
  /** When the present socket was authenticated; in no time that comes while it is not. */
  let readyMs: number;
  let generation = 0;
  let kind: SubscriptionState['kind'] = 'snapshot';
  /** Whether there is a state that no reader has been given. */
  let unseen = false;
  let failure: unknown;
  /** Whether the replica is not, or no longer, what the engine has. */
  let stale = true;
  /** Hands the next state, or the news that there is none, to the reader that waits. */
  let hand: ((state?: SubscriptionState) => void) | undefined;
  let current: SubscriptionState | undefined;

  function latest(): SubscriptionState | undefined {
    const { columns } = replica;
    if (!columns || current?.stale === stale) return current;
    const read = replica.view();
    let rows: SubscriptionState['rows'] | undefined;
    current = {
      kind,
      columns,
      get rows() {
        rows ??= read();
        return rows;
      },
      generation,
      stale,
    };
    return current;
  }

  function publish(frame: SubscriptionState['kind']): void {
    if (frame === 'snapshot') generation++;
    // A reader that skips a snapshot must still be told that there was one.
    if (frame === 'snapshot' || !unseen) kind = frame;
    stale = false;
    current = undefined;
    unseen = hand === undefined;
    hand?.(latest());
    hand = undefined;
    // Last: its observer may look at the state, or end the subscription.
    if (frame === 'snapshot') emit({ name: 'subscription-live', generation, rows: replica.length });
  }

  /** @param error - what it failed of; null at the stream's own end, undefined at another on purpose. */
  function end(error?: EndpointError | TypeError | null): void {
    if (over) return;
    over = error ? 'failed' : 'ended';
    stale ||= error !== null;
    failure = error;
    scope.leave();
    subscriptions.delete(subscription);
    emit({ name: 'subscription-ended', code: (error as EndpointError | undefined)?.code });
    hand?.();
  }

  // A generator serves readers in their order, however many ask at once. One that waits is handed each state as it comes; one
  // that comes later finds the newest.
  async function* read(): AsyncGenerator<SubscriptionState, undefined, undefined> {
    for (;;)
      if (unseen && !stale) {
        unseen = false;
        yield latest() as SubscriptionState;
      } else if (!over) {
        const next = await new Promise<SubscriptionState | undefined>((resolve) => {
          hand = resolve;
        });
        if (next) yield next;
      } else return;
  }

  /** One connection: null at the stream's own end, else what the engine ended it for. @throws whatever it was lost of. */
  async function connect(): Promise<EndpointError | null> {
    const channel = await openChannel(link, scope);
    // At once, and not when the attempt is given up: what is read meanwhile must be so.
    channel.onDead = () => {
      stale = true;
    };
    readyMs = clock.now();
    const fault = await streamInto(replica, link, channel, profile, payload, scope, publish);
    return fault && link.error(fault, 'unknown');
  }

  async function run(): Promise<void> {
    let attempt = 0;
    let lostMs = clock.now();
    let rebuiltMs: number[] = [];
    for (;;) {
      readyMs = Infinity;
      const former = generation;
      const error = await connect().catch((thrown: unknown) => thrown);
      if (over) return;
      // What is not an EndpointError is a wrong argument: credentials that cannot be framed.
      if (!(error instanceof EndpointError)) return end(error as TypeError | null);
      const nowMs = clock.now();
      if (generation !== former) lostMs = nowMs;
      if (REBUILT.test(error.reason ?? '')) {
        rebuiltMs = [...rebuiltMs.filter((ms) => nowMs - ms < 60_000), nowMs];
        if (rebuiltMs.length > backoff.rebuildsPerMinute)
          return end(link.error({ code: 'REBUILD_LIMIT' }, 'unknown'));
      } else if (!isPassing(error.code)) return end(error);
      // Not at 'open': an engine that accepts and closes at once, for ever, would be asked without pause.
      if (nowMs - readyMs >= backoff.resetAfterMs) attempt = 0;
      const delayMs = backoffMs(backoff, ++attempt, random);
      if (nowMs + delayMs - lostMs >= backoff.totalMs) return end(error);
      emit({ name: 'subscription-retry', code: error.code, delayMs });
      await link.within(scope, delayMs, undefined, 'not-run');
    }
  }

  async function close(): Promise<void> {
    scope.end({ code: 'CLOSED' });
    await scope.channel?.closed;
  }

  scope.onEnd((fault) => end(fault.code === 'CLOSED' ? undefined : link.error(fault, 'unknown')));
  const reader = read();
  const subscription = {
    get state() {
      return over ?? (stale ? (generation ? 'stale' : 'connecting') : 'live');
    },
    latest,
    close,
    async next() {
      const result = await reader.next();
      // To every reader: a generator would tell the first, and let the others believe in a good end.
      if (result.done && failure) throw failure;
      return result;
    },
    async return() {
      await close();
      return reader.return(undefined);
    },
    [Symbol.asyncIterator]() {
      return this;
    },
    [Symbol.asyncDispose ?? 'dispose']: close,
  } as Subscription;
  subscriptions.add(subscription);
  // Last: `authenticate` is called at once, and may end what it is asked for.
  // Of a pause cut short, or of randomness that cannot be had.
  run().catch((error: unknown) => end(error as TypeError));
  return subscription;
}
