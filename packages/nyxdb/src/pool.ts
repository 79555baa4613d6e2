import type { Channel } from './channel.js';
import { openChannel } from './connect.js';
import type { Link } from './link.js';
import type { Scope } from './scope.js';

/** The few sockets of one-shot calls: a call leases one for itself, and gives it back when it is done. */
export interface Pool {
  /**
   * A socket that is idle, or a new one, as soon as one more may be leased. A socket opened for a call that is given up goes with
   * it: nothing is left that nobody asked for.
   *
   * @throws EndpointError, outcome `not-sent`; BUSY when too many wait already.
   */
  lease(scope: Scope): Promise<Channel>;
  /** A call is done with its socket, if it got one, whatever became of it. */
  giveBack(channel?: Channel): void;
  /** How many calls wait for a socket. */
  waiting(): number;
}

export function createPool(link: Link): Pool {
  const { clock, deadlines, error, limits } = link;
  /** Authenticated, with nothing in flight, and what stops their idle time; the one used last is at the end. */
  const idle = new Map<Channel, () => void>();
  /** In their order: each is called when it is its turn. */
  const waiting = new Set<() => void>();
  /** How many more may be leased. */
  let free = limits.poolSize;

  function leaveIdle(channel: Channel): void {
    idle.get(channel)?.();
    idle.delete(channel);
  }

  /** The one used last, if any is of any use: those of another token are closed. */
  function useIdle(): Channel | undefined {
    let last: Channel | undefined;
    for (const channel of idle.keys())
      if (channel.principal === link.principal) last = channel;
      else channel.end();
    return last;
  }

  const turn = (scope: Scope): Promise<void> =>
    new Promise((resolve, reject) => {
      if (waiting.size >= limits.maxWaiting) throw error({ code: 'BUSY', reason: 'waiting' }, 'not-sent');
      waiting.add(resolve);
      scope.onEnd((fault) => {
        if (waiting.delete(resolve)) reject(error(fault, 'not-sent'));
      });
    });

  function giveBack(channel?: Channel): void {
    if (channel?.state === 'ready')
      if (channel.principal !== link.principal || link.closed) channel.end();
      else {
        idle.set(
          channel,
          clock.after(deadlines.idleMs, () => channel.end()),
        );
        channel.onDead = () => leaveIdle(channel);
      }
    const [next] = waiting;
    if (next) {
      waiting.delete(next);
      next();
    } else free++;
  }

  return {
    async lease(scope) {
      if (free > 0) free--;
      else await turn(scope);
      try {
        let channel = useIdle();
        if (!channel) {
          channel = await openChannel(link, scope);
          useIdle();
        }
        leaveIdle(channel);
        return channel;
      } catch (thrown) {
        giveBack();
        throw thrown;
      }
    },
    giveBack,
    waiting: () => waiting.size,
  };
}
