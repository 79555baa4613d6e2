import { HEADER_BYTES, LENGTH_OFFSET, REQUEST_ID_BYTES } from './wire.js';

/** Bytes over memory of their own, as `WebSocket.send` takes them. */
export type Bytes = Uint8Array<ArrayBuffer>;

const utf8 = new TextEncoder();

/** UTF-8 of a text. A lone surrogate would become U+FFFD silently: refuse it first (see `callText`). */
export const encodeText = (text: string): Bytes => utf8.encode(text);

function frame(idOffset: number, id: Uint8Array, payload: Uint8Array): Bytes {
  if (id.length !== REQUEST_ID_BYTES) throw new TypeError('a request id is 16 bytes');
  const size = payload.length;
  if (size > 0xffff_ffff) throw new TypeError('a payload is at most 4,294,967,295 bytes');
  const bytes = new Uint8Array(HEADER_BYTES + size);
  bytes.set(id, idOffset);
  bytes[LENGTH_OFFSET] = size >>> 24;
  bytes[LENGTH_OFFSET + 1] = size >>> 16;
  bytes[LENGTH_OFFSET + 2] = size >>> 8;
  bytes[LENGTH_OFFSET + 3] = size;
  bytes.set(payload, HEADER_BYTES);
  return bytes;
}

const octet = (value: number, what: string): number => {
  if (!Number.isInteger(value) || value < 0 || value > 255)
    throw new TypeError(`${what} is one octet, 0 to 255`);
  return value;
};

/**
 * One request as one message: `op:u8 request_id:16 payload_len:u32be payload` (contract, "Outer frame").
 *
 * @throws TypeError for an op that is not an octet or an id that is not 16 bytes.
 */
export function encodeRequest(op: number, requestId: Uint8Array, payload: Uint8Array): Bytes {
  octet(op, 'an operation');
  const bytes = frame(1, requestId, payload);
  bytes[0] = op;
  return bytes;
}

/**
 * One response as one message: `request_id:16 status:u8 payload_len:u32be payload` (contract, "Outer frame").
 *
 * @throws TypeError for a status that is not an octet or an id that is not 16 bytes.
 */
export function encodeResponse(requestId: Uint8Array, status: number, payload: Uint8Array): Bytes {
  octet(status, 'a status');
  const bytes = frame(0, requestId, payload);
  bytes[REQUEST_ID_BYTES] = status;
  return bytes;
}
