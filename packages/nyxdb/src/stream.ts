import { readError, refuseStatus } from './answer.js';
import type { Channel } from './channel.js';
import type { Bytes } from './encode.js';
import type { Fault } from './errors.js';
import { FrameError } from './fault.js';
import type { Link } from './link.js';
import { HEARTBEAT_MS } from './pool.js';
import type { SubscriptionProfile } from './profile.js';
import type { Replica } from './replica.js';
import type { Scope } from './scope.js';
import { OP_ENDPOINT_SUB, STATUS_ERROR } from './wire.js';

/**
 * One subscription on its own socket, until it ends. Frames are applied as they arrive, each whole or not at all: none is
 * kept waiting.
 *
 * @returns undefined for the stream's own end, else what it was lost of.
 */
export function streamInto(
  replica: Replica,
  link: Link,
  channel: Channel,
  profile: SubscriptionProfile,
  payload: Bytes,
  scope: Scope,
  onFrame: (kind: 'snapshot' | 'delta') => void,
): Promise<Fault | undefined> {
  const { clock, deadlines, limits } = link.settings;
  return new Promise((resolve) => {
    const off = scope.onEnd((fault) => channel.end(fault));
    let stopSilence = clock.after(deadlines.snapshotMs, () =>
      channel.end({ code: 'DEADLINE_EXCEEDED', phase: 'snapshot' }, 4008),
    );
    let stopBeat = (): void => {};
    const beat = (): void => {
      stopBeat = clock.after(HEARTBEAT_MS, beat);
      channel.heartbeat();
    };
    const leave = (fault: Fault | undefined): void => {
      off();
      stopSilence();
      stopBeat();
      resolve(fault);
    };
    const over = (fault: Fault | undefined) => (): void => {
      channel.end(undefined);
      leave(fault);
    };
    let live = false;
    stopBeat = clock.after(HEARTBEAT_MS, beat);
    if (scope.fault !== undefined) channel.end(scope.fault);
    channel.send(OP_ENDPOINT_SUB, link.nextId(), payload, 'busy', {
      read(status, body) {
        if (status === STATUS_ERROR) return over(readError(body, link.settings.profile));
        const kind = profile.statuses[status];
        if (kind === undefined) return refuseStatus(status, link.settings.profile);
        if (kind === 'end') return over(undefined);
        if (kind === 'snapshot') replica.load(profile.readSnapshot(body, limits));
        // The rows of a former socket are no base for deltas of this one.
        else if (!live) throw new FrameError('delta-before-snapshot');
        else replica.apply(profile.readDeltas(body), limits.maxRows);
        live = true;
        stopSilence();
        if (deadlines.quietMs > 0)
          stopSilence = clock.after(deadlines.quietMs, () => channel.end({ code: 'CONNECTION_LOST' }, 4008));
        onFrame(kind);
        return undefined;
      },
      lost: leave,
    });
  });
}
