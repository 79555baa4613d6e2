import { readError, refuseStatus } from './answer.js';
import { backoffMs } from './backoff.js';
import { cancelRequest, drainChannel } from './cancel.js';
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
      return await executeOnce(link, pool, channel, payload, scope);
    } catch (error) {
      if (!(error instanceof EndpointError) || error.code !== 'BUSY') throw error;
      const delayMs = backoffMs(backoff, sends.count, random);
      // A wait that cannot end in time is not begun.
      if (sends.count >= backoff.busyAttempts || clock.now() + delayMs >= endsAtMs) throw error;
      emit({ name: 'call-delayed', delayMs, sends: sends.count });
      await link.within(scope, delayMs, undefined, 'not-run');
    }
  }
}

async function executeOnce(
  link: Link,
  pool: Pool,
  channel: Channel,
  payload: Uint8Array,
  scope: Scope,
): Promise<Table> {
  const { deadlines, limits, profile } = link.settings;
  const id = link.nextId();
  // Read also when nobody waits any more: a malformed answer ends the socket all the same.
  const answered = channel.ask(OP_ENDPOINT_EXEC, id, payload, 'busy', (status, body) => {
    if (status === STATUS_OK) return parseTsv(decodeText(body), profile.tsv, limits);
    return status === STATUS_ERROR ? readError(body, profile) : refuseStatus(status, profile);
  });
  let answer: Table | Fault | undefined;
  try {
    answer = await link.within(scope, deadlines.responseMs, 'response', 'unknown', answered);
  } catch (error) {
    // The caller is released at once; the registration stays, and the socket takes nothing new (design N3).
    if (channel.state === 'busy') {
      pool.forget(channel);
      drainChannel(link, channel);
      void cancelRequest(link, channel, id);
    }
    throw error;
  } finally {
    // Also when the answer came in the same turn as the caller's leaving.
    if (channel.state === 'ready') {
      // Nothing follows a failed authentication on its socket.
      if (answer !== undefined && 'code' in answer && answer.code === 'AUTH_FAILED') channel.end(answer);
      else pool.release(channel);
    }
  }
  if (answer !== undefined && 'rows' in answer) return answer;
  throw link.error(answer ?? { code: 'CONNECTION_LOST' }, 'unknown');
}
