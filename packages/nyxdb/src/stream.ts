import { readError, refuseStatus } from './answer.js';
import type { Channel } from './channel.js';
import type { Bytes } from './encode.js';
import type { Fault } from './errors.js';
import { FrameError } from './fault.js';
import type { Link } from './link.js';
import type { SubscriptionProfile } from './profile.js';
import type { Replica } from './replica.js';
import type { Scope } from './scope.js';
import { OP_ENDPOINT_SUB, STATUS_ERROR } from './wire.js';

/**
 * One subscription on its own socket, until it ends. Frames are applied as they arrive, each whole or not at all: none is
 * kept waiting.
 *
 * @returns null for the stream's own end, else the error that the engine answered.
 * @throws EndpointError when the connection ends.
 */
export async function streamInto(
  replica: Replica,
  link: Link,
  channel: Channel,
  subscription: SubscriptionProfile,
  payload: Bytes,
  scope: Scope,
  onFrame: (kind: 'snapshot' | 'delta') => void,
): Promise<Fault | null> {
  const { clock, deadlines, limits, profile } = link;
  let live = false;
  const off = scope.onEnd((fault) => channel.end(fault));
  let stop = clock.after(deadlines.snapshotMs, () =>
    channel.end({ code: 'DEADLINE_EXCEEDED', phase: 'snapshot' }, 4008),
  );
  if (scope.fault) channel.end(scope.fault);
  try {
    return await channel.ask(OP_ENDPOINT_SUB, link.nextId(), payload, 'busy', (status, body) => {
      if (status === STATUS_ERROR) return readError(body, profile);
      const kind = subscription.statuses[status] ?? refuseStatus(status, profile);
      if (kind === 'end') {
        // What its socket does from here on is no loss.
        channel.onDead = undefined;
        return null;
      }
      if (kind === 'snapshot') replica.load(subscription.readSnapshot(body, limits));
      // The rows of a former socket are no base for deltas of this one.
      else if (!live) throw new FrameError('delta-before-snapshot');
      else replica.apply(subscription.readDeltas(body), limits.maxRows);
      live = true;
      stop();
      if (deadlines.quietMs)
        stop = clock.after(deadlines.quietMs, () => channel.end({ code: 'CONNECTION_LOST' }, 4008));
      onFrame(kind);
      return undefined;
    });
  } finally {
    off();
    stop();
    channel.end();
  }
}
