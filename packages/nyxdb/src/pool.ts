import type { Channel } from './channel.js';
import { openChannel } from './connect.js';
import type { Link } from './link.js';
import type { Scope } from './scope.js';

/** The few sockets of one-shot calls: a call leases one for itself, and gives it back when it is done. */
export class Pool {
  readonly #link: Link;
  /** Authenticated, with nothing in flight, and what stops their idle time; the one used last is at the end. */
  readonly #idle = new Map<Channel, () => void>();
  /** In their order: each is called when it is its turn. */
  readonly #waiting = new Set<() => void>();
  /** How many more may be leased. */
  #free: number;
  /** Of the socket opened last: those of another are not used again (contract: close whenever the token changes). */
  #principal: string | undefined;

  constructor(link: Link) {
    this.#link = link;
    this.#free = link.settings.limits.poolSize;
  }

  /** How many calls wait for a socket. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /**
   * A socket that is idle, or a new one, as soon as one more may be leased. A socket opened for a call that is given up goes with
   * it: nothing is left that nobody asked for.
   *
   * @throws EndpointError, outcome `not-sent`; BUSY when too many wait already.
   */
  async lease(scope: Scope): Promise<Channel> {
    if (this.#free > 0) this.#free--;
    else await this.#turn(scope);
    try {
      let channel: Channel | undefined;
      for (channel of this.#idle.keys());
      if (channel !== undefined) {
        this.#leaveIdle(channel);
        return channel;
      }
      channel = await openChannel(this.#link, scope);
      this.#principal = channel.principal;
      for (const idle of this.#idle.keys()) if (idle.principal !== this.#principal) idle.end();
      return channel;
    } catch (error) {
      this.giveBack();
      throw error;
    }
  }

  /** A call is done with its socket, if it got one, whatever became of it. */
  giveBack(channel?: Channel): void {
    if (channel?.state === 'ready')
      if (channel.principal !== this.#principal || this.#link.closed) channel.end();
      else {
        const { clock, deadlines } = this.#link.settings;
        this.#idle.set(
          channel,
          clock.after(deadlines.idleMs, () => channel.end()),
        );
        channel.onDead = () => this.#leaveIdle(channel);
      }
    const [next] = this.#waiting;
    if (next === undefined) this.#free++;
    else {
      this.#waiting.delete(next);
      next();
    }
  }

  #leaveIdle(channel: Channel): void {
    this.#idle.get(channel)?.();
    this.#idle.delete(channel);
  }

  #turn(scope: Scope): Promise<void> {
    const { error, settings } = this.#link;
    return new Promise((resolve, reject) => {
      if (this.#waiting.size >= settings.limits.maxWaiting)
        throw error({ code: 'BUSY', reason: 'waiting' }, 'not-sent');
      this.#waiting.add(resolve);
      scope.onEnd((fault) => {
        if (this.#waiting.delete(resolve)) reject(error(fault, 'not-sent'));
      });
    });
  }
}
