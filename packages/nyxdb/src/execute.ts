import { readError, refuseStatus } from './answer.js';
import { backoffMs } from './backoff.js';
import { cancelRequest } from './cancel.js';
import { decodeText } from './decode.js';
import type { Bytes } from './encode.js';
import type { EndpointError, Fault } from './errors.js';
import type { Link } from './link.js';
import type { Pool } from './pool.js';
import type { Scope } from './scope.js';
import { parseTsv, type Table } from './tsv.js';
import { OP_ENDPOINT_EXEC, STATUS_ERROR, STATUS_OK } from './wire.js';

/**
 * Runs one call, and again, with jitter, while the engine says that it is busy. Nothing else is repeated: a request whose
 * outcome is unknown may have run.
 *
 * @param onSend - told before each send.
 * @throws EndpointError.
 */
export async function execute(
  link: Link,
  pool: Pool,
  payload: Bytes,
  scope: Scope,
  endsAtMs: number,
  onSend: () => void,
): Promise<Table> {
  const { backoff, clock, emit, random } = link;
  for (let sends = 1; ; sends++) {
    const answer = await executeOnce(link, pool, payload, scope, onSend);
    if ('rows' in answer) return answer;
    const error: EndpointError = link.error(answer, 'unknown');
    const delayMs = backoffMs(backoff, sends, random);
    // A wait that cannot end in time is not begun.
    if (error.code !== 'BUSY' || sends >= backoff.busyAttempts || clock.now() + delayMs >= endsAtMs)
      throw error;
    emit({ name: 'call-delayed', delayMs, sends });
    await link.within(scope, delayMs, undefined, 'not-run');
  }
}

async function executeOnce(
  link: Link,
  pool: Pool,
  payload: Bytes,
  scope: Scope,
  onSend: () => void,
): Promise<Table | Fault> {
  const { deadlines, limits, profile } = link;
  // Before there is a socket to give back: the random source is not ours, and may fail.
  const id = link.nextId();
  const channel = await pool.lease(scope);
  try {
    if (scope.fault) throw link.error(scope.fault, 'not-sent');
    onSend();
    // Read also when nobody waits any more: a malformed answer ends the socket all the same.
    const answered = channel.ask(OP_ENDPOINT_EXEC, id, payload, 'busy', (status, body) => {
      if (status === STATUS_OK) return parseTsv(decodeText(body), profile.tsv, limits);
      return status === STATUS_ERROR ? readError(body, profile) : refuseStatus(status, profile);
    });
    const answer = await link.within(scope, deadlines.responseMs, 'response', 'unknown', answered);
    // Nothing follows a failed authentication on its socket.
    if ((answer as Partial<Fault>).code === 'AUTH_FAILED') channel.end();
    return answer;
  } finally {
    // Its caller is released at once; the registration stays, and the socket takes nothing new (design N3).
    if (channel.state === 'busy') void cancelRequest(link, channel, id);
    pool.giveBack(channel);
  }
}
