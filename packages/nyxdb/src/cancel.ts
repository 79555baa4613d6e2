import { readAcknowledgement } from './answer.js';
import type { Channel } from './channel.js';
import { openChannel } from './connect.js';
import type { Bytes } from './encode.js';
import type { Fault } from './errors.js';
import type { Link } from './link.js';
import { Scope } from './scope.js';
import { OP_CANCEL_REQUEST } from './wire.js';

const LATE: Fault = { code: 'DEADLINE_EXCEEDED', phase: 'cancel' };

/**
 * Cancels a request whose caller has been released, by a separate, itself authenticated socket: behind the target on its own
 * socket it could not overtake it (contract, "Cancel an executing one-shot"). The target stays registered until its terminal
 * answer or, after the acknowledgement, until `cancelMs` passed; then its socket is closed.
 */
export async function cancelRequest(link: Link, target: Channel, targetId: Bytes): Promise<void> {
  const { clock, deadlines, emit, limits } = link;
  target.state = 'draining';
  // Not more of them than the pool has: of a caller who gives up often, the oldest is closed.
  const draining = [...link.channels].filter(({ state }) => state === 'draining');
  if (draining.length > limits.poolSize) draining[0]?.end(LATE, 4008);
  // Ended with the target: there is nothing left to cancel then.
  const scope = new Scope(link);
  let stopBound: (() => void) | undefined;
  target.onDead = () => {
    scope.end({ code: 'CANCELLED' });
    stopBound?.();
  };
  let result: 'requested' | 'not-found' | 'failed' = 'failed';
  try {
    // Before there is a socket that would have to be closed: the random source may fail.
    const id = link.nextId();
    const control = await openChannel(link, scope);
    const answered = control.ask(OP_CANCEL_REQUEST, id, targetId, 'busy', readAcknowledgement);
    const found = link.within(scope, deadlines.cancelMs, 'cancel', 'not-sent', answered);
    result = (await found.finally(() => control.end())) ? 'requested' : 'not-found';
  } catch {
    // The caller has gone: what went wrong here is the observer's to hear, and the bound below holds all the same.
  }
  scope.leave();
  if (scope.fault) return;
  emit({ name: 'cancel', result });
  stopBound = clock.after(deadlines.cancelMs, () => target.end(LATE, 4008));
}
