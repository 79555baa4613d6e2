import type { Channel } from './channel.js';
import { openChannel } from './connect.js';
import type { Link } from './link.js';
import type { Scope } from './scope.js';

interface Waiter {
  readonly scope: Scope;
  readonly resolve: (channel: Channel) => void;
  readonly reject: (error: unknown) => void;
}

/** The few sockets of one-shot calls. A call has its socket for itself until its terminal answer. */
export class Pool {
  readonly #link: Link;
  /** Authenticated, with nothing in flight; the one used last is at the end. With what stops its timer. */
  readonly #idle = new Map<Channel, () => void>();
  readonly #waiting = new Set<Waiter>();
  /** Sockets opening, idle or busy. */
  #size = 0;
  /** The socket opened last: others of another principal are not used again (contract: close whenever the token changes). */
  #newest: Channel | undefined;

  constructor(link: Link) {
    this.#link = link;
  }

  /** How many calls wait for a socket. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** A socket that is ready now, if there is one. */
  take(): Channel | undefined {
    let channel: Channel | undefined;
    for (channel of this.#idle.keys());
    if (channel !== undefined) this.#leaveIdle(channel);
    return channel;
  }

  /**
   * The next socket to become ready, opened if there is room for one more.
   *
   * @throws EndpointError, outcome `not-sent`; BUSY when too many wait already.
   */
  acquire(scope: Scope): Promise<Channel> {
    return new Promise((resolve, reject) => {
      const { limits } = this.#link.settings;
      if (this.#size >= limits.poolSize && this.#waiting.size >= limits.maxWaiting)
        throw this.#link.error({ code: 'BUSY', reason: 'waiting' }, 'not-sent');
      const off = scope.onEnd((fault) => {
        if (this.#waiting.delete(waiter)) reject(this.#link.error(fault, 'not-sent'));
      });
      const waiter: Waiter = {
        scope,
        resolve: (channel) => {
          off();
          resolve(channel);
        },
        reject: (error) => {
          off();
          reject(error);
        },
      };
      this.#waiting.add(waiter);
      this.#serve();
    });
  }

  /** A call is done with its socket. */
  release(channel: Channel): void {
    if (channel.state === 'dead') return;
    if (this.#isStale(channel) || this.#link.closed) {
      channel.end(undefined);
      return;
    }
    const { clock, deadlines } = this.#link.settings;
    this.#idle.set(
      channel,
      clock.after(deadlines.idleMs, () => channel.end(undefined)),
    );
    this.#serve();
  }

  /** The socket's request was given up: it is no longer one of the pool's. */
  forget(channel: Channel): void {
    channel.onDead = undefined;
    this.#leave();
  }

  #isStale(channel: Channel): boolean {
    return this.#newest !== undefined && !channel.isLike(this.#newest);
  }

  #leaveIdle(channel: Channel): void {
    this.#idle.get(channel)?.();
    this.#idle.delete(channel);
  }

  #leave(): void {
    this.#size--;
    this.#serve();
  }

  #serve(): void {
    for (const waiter of this.#waiting) {
      const ready = this.take();
      if (ready === undefined && this.#size >= this.#link.settings.limits.poolSize) return;
      this.#waiting.delete(waiter);
      if (ready === undefined) this.#open(waiter);
      else waiter.resolve(ready);
    }
  }

  // On behalf of one call: when that call is given up, so is the attempt, and nothing is left that nobody asked for.
  #open(waiter: Waiter): void {
    this.#size++;
    openChannel(this.#link, waiter.scope).then(
      (channel) => {
        channel.onDead = () => {
          this.#leaveIdle(channel);
          this.#leave();
        };
        this.#newest = channel;
        for (const idle of this.#idle.keys()) if (this.#isStale(idle)) idle.end(undefined);
        waiter.resolve(channel);
      },
      (error: unknown) => {
        waiter.reject(error);
        this.#leave();
      },
    );
  }
}
