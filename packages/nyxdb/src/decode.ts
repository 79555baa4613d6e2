import { FrameError } from './fault.js';
import { HEADER_BYTES, LENGTH_OFFSET, REQUEST_ID_BYTES } from './wire.js';

/** A response, as views of the message it came in: nothing was copied. */
export interface ResponseFrame {
  /** The 16 bytes of the request this answers; all zero for the documented revocation. */
  readonly requestId: Uint8Array;
  /** The status octet, unjudged: what it may be depends on the request in flight. */
  readonly status: number;
  /** The body, unread. */
  readonly payload: Uint8Array;
}

/** A request, as views of the message it came in: nothing was copied. */
export interface RequestFrame {
  /** The operation octet, unjudged. */
  readonly op: number;
  /** The 16 bytes that answers to this request carry. */
  readonly requestId: Uint8Array;
  /** The payload, unread. */
  readonly payload: Uint8Array;
}

// Nothing is allocated from the declared length, and the cap is looked at before the sizes are compared, so that a
// declared 4 GiB is named for what it is.
/**
 * Checks one whole message, request or response, without reading it (contract, "Outer frame"). For whoever passes it on.
 *
 * @param maxPayloadBytes - the largest payload accepted, declared or real.
 * @throws FrameError `short-frame`, `over-cap`, `truncated` or `trailing-bytes`.
 */
export function checkFrame({ buffer, byteOffset, length }: Uint8Array, maxPayloadBytes: number): void {
  const actual = length - HEADER_BYTES;
  if (actual < 0) throw new FrameError('short-frame');
  const declared = new DataView(buffer, byteOffset).getUint32(LENGTH_OFFSET);
  if (Math.max(declared, actual) > maxPayloadBytes) throw new FrameError('over-cap');
  if (actual !== declared) throw new FrameError(actual < declared ? 'truncated' : 'trailing-bytes');
}

/**
 * Reads one whole message as one response (contract, "Outer frame").
 *
 * @param maxPayloadBytes - the largest payload accepted, declared or real.
 * @throws FrameError `short-frame`, `over-cap`, `truncated` or `trailing-bytes`.
 */
export function decodeResponse(message: Uint8Array, maxPayloadBytes: number): ResponseFrame {
  checkFrame(message, maxPayloadBytes);
  return {
    requestId: message.subarray(0, REQUEST_ID_BYTES),
    status: message[REQUEST_ID_BYTES] ?? 0,
    payload: message.subarray(HEADER_BYTES),
  };
}

/**
 * Reads one whole message as one request, for whoever stands on the engine's side of the wire.
 *
 * @param maxPayloadBytes - the largest payload accepted, declared or real.
 * @throws FrameError `short-frame`, `over-cap`, `truncated` or `trailing-bytes`.
 */
export function decodeRequest(message: Uint8Array, maxPayloadBytes: number): RequestFrame {
  checkFrame(message, maxPayloadBytes);
  return {
    op: message[0] ?? 0,
    requestId: message.subarray(1, 1 + REQUEST_ID_BYTES),
    payload: message.subarray(HEADER_BYTES),
  };
}

// A leading U+FEFF is a cell's own character: TextDecoder would drop it without `ignoreBOM`.
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Strict UTF-8.
 *
 * @throws FrameError `utf8`.
 */
export function decodeText(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw new FrameError('utf8');
  }
}

/** Whether two byte strings are the same. Neither is a secret: ids travel in the clear between the two ends. */
export const sameBytes = (one: Uint8Array, other: Uint8Array): boolean =>
  one.length === other.length && one.every((byte, index) => byte === other[index]);

/** Whether every byte is zero: the id of the documented revocation, and of nothing a client sends. */
export const isZero = (bytes: Uint8Array): boolean => bytes.every((byte) => byte === 0);
