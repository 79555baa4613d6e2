import { decodeText, sameBytes } from './decode.js';
import { encodeText } from './encode.js';
import { boundText, type EndpointErrorCode, type Fault } from './errors.js';
import { FrameError } from './fault.js';
import type { EngineProfile, ProfileError } from './profile.js';
import { STATUS_ERROR, STATUS_OK } from './wire.js';

/** A status that this request cannot have: one of another operation, or one that nobody knows. */
export function refuseStatus(status: number, profile: EngineProfile): never {
  const known = status === STATUS_OK || profile.subscription?.statuses[status] !== undefined;
  throw new FrameError(known ? 'status-not-for-op' : 'unknown-status');
}

/**
 * The fault that an error body stands for: matched whole, never parsed. Only the two published bodies are shown without LF,
 * so one LF at the end is not held against the others.
 *
 * @throws FrameError `utf8`.
 */
export function readError(payload: Uint8Array, profile: EngineProfile): Fault {
  const text = decodeText(payload);
  const key = text.replace(/\n$/, '');
  const { reason, outcome } = Object.hasOwn(profile.errors, key)
    ? (profile.errors[key] as ProfileError)
    : { reason: 'unrecognized', outcome: 'unknown' as const };
  if (reason === 'busy') return { code: 'BUSY', outcome };
  if (reason === 'auth-failed') return { code: 'AUTH_FAILED', outcome };
  return { code: 'APPLICATION_ERROR', reason, outcome, engineText: boundText(text) };
}

const AUTHENTICATED = encodeText('authenticated\n');

/**
 * The answer to OP_AUTH: null when the socket is authenticated, else what it failed of.
 *
 * @throws FrameError for anything but `authenticated LF` with 0x00, or `auth failed` or an admission error with 0x01: a socket
 * that is neither authenticated nor refused cannot be used.
 */
export function readAuthentication(
  status: number,
  payload: Uint8Array,
  profile: EngineProfile,
): EndpointErrorCode | null {
  if (status === STATUS_OK) {
    if (sameBytes(payload, AUTHENTICATED)) return null;
    throw new FrameError('contradictory');
  }
  if (status !== STATUS_ERROR) refuseStatus(status, profile);
  const { code } = readError(payload, profile);
  if (code === 'APPLICATION_ERROR') throw new FrameError('contradictory');
  return code;
}

const ACKNOWLEDGED = /^query_id\tcancel_requested\n(?:([1-9]\d*)\t1|0\t0)\n?$/;

/**
 * The answer to OP_CANCEL_REQUEST: whether a request was found and its cancellation requested.
 *
 * @throws FrameError `cancel-ack` for anything but one of the two published rows.
 */
export function readAcknowledgement(status: number, payload: Uint8Array): boolean {
  const row = status === STATUS_OK ? ACKNOWLEDGED.exec(decodeText(payload)) : null;
  if (!row) throw new FrameError('cancel-ack');
  return row[1] !== undefined;
}
