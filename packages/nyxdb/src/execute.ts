import { readError, refuseStatus } from './answer.js';
import { backoffMs } from './backoff.js';
import { cancelRequest, type Draining } from './cancel.js';
import type { Channel } from './channel.js';
import { decodeText } from './decode.js';
import { EndpointError, type Fault } from './errors.js';
import type { Link } from './link.js';
import type { Pool } from './pool.js';
import type { Scope } from './scope.js';
import { parseTsv, type Table } from './tsv.js';
import { OP_ENDPOINT_EXEC, STATUS_ERROR, STATUS_OK } from './wire.js';

/** How often the request was sent so far, for the observer. */
export interface Sends {
  count: number;
}

/**
 * Runs one call: a socket of the pool, the request, its answer; again, with jitter, while the engine says that it is busy.
 * Nothing else is repeated: a request whose outcome is unknown may have run.
 *
 * @throws EndpointError.
 */
export async function executeOnPool(
  link: Link,
  pool: Pool,
  draining: Draining,
  payload: Uint8Array,
  scope: Scope,
  endsAtMs: number,
  sends: Sends,
): Promise<Table> {
  const { backoff, clock, emit, random } = link.settings;
  for (;;) {
    const channel = pool.take() ?? (await pool.acquire(scope));
    if (scope.fault !== undefined) {
      pool.release(channel);
      throw link.error(scope.fault, 'not-sent');
    }
    sends.count++;
    try {
      return await executeOnce(link, pool, draining, channel, payload, scope);
    } catch (error) {
      if (!(error instanceof EndpointError) || error.code !== 'BUSY') throw error;
      const delayMs = backoffMs(backoff, sends.count, random);
      // A wait that cannot end in time is not begun.
      if (sends.count >= backoff.busyAttempts || clock.now() + delayMs >= endsAtMs) throw error;
      emit({ name: 'call-delayed', delayMs, sends: sends.count });
      await link.pause(scope, delayMs);
    }
  }
}

function executeOnce(
  link: Link,
  pool: Pool,
  draining: Draining,
  channel: Channel,
  payload: Uint8Array,
  scope: Scope,
): Promise<Table> {
  const { clock, deadlines, limits, profile } = link.settings;
  return new Promise((resolve, reject) => {
    const id = link.nextId();
    let released = false;
    const leave = (): void => {
      released = true;
      stop();
      off();
    };
    // The caller is released at once; the registration stays, and the socket takes nothing new (design N3).
    const giveUp = (fault: Fault): void => {
      leave();
      reject(link.error(fault, 'unknown'));
      // For any other reason everything of this principal is being closed anyway.
      if (fault.code !== 'CANCELLED' && fault.code !== 'DEADLINE_EXCEEDED') return;
      pool.forget(channel);
      draining.add(channel);
      void cancelRequest(link, channel, id);
    };
    const stop = clock.after(deadlines.responseMs, () =>
      giveUp({ code: 'DEADLINE_EXCEEDED', phase: 'response' }),
    );
    const off = scope.onEnd(giveUp);
    channel.send(OP_ENDPOINT_EXEC, id, payload, 'busy', {
      read(status, body) {
        if (status !== STATUS_OK && status !== STATUS_ERROR) refuseStatus(status, profile);
        const fault = status === STATUS_ERROR ? readError(body, profile) : undefined;
        // Read also when nobody waits any more: a malformed answer ends the socket all the same.
        const table = fault === undefined ? parseTsv(decodeText(body), profile.tsv, limits) : undefined;
        return () => {
          if (released) {
            channel.end(undefined);
            return;
          }
          leave();
          // Nothing follows a failed authentication on its socket.
          if (fault?.code === 'AUTH_FAILED') channel.end(fault);
          else pool.release(channel);
          if (table !== undefined) resolve(table);
          else reject(link.error(fault ?? { code: 'CONNECTION_LOST' }, 'unknown'));
        };
      },
      lost(fault, outcome) {
        if (released) return;
        leave();
        reject(link.error(fault, outcome ?? 'unknown'));
      },
    });
  });
}
