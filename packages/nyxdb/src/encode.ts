import { must } from './require.js';
import { HEADER_BYTES, LENGTH_OFFSET, REQUEST_ID_BYTES } from './wire.js';

/** Bytes over memory of their own, as `WebSocket.send` takes them. */
export type Bytes = Uint8Array<ArrayBuffer>;

const utf8 = new TextEncoder();

/** UTF-8 of a text. A lone surrogate would become U+FFFD silently: refuse it first (see `callText`). */
export const encodeText = (text: string): Bytes => utf8.encode(text);

function frame(octet: number, at: number, idAt: number, id: Uint8Array, payload: Uint8Array): Bytes {
  must(octet >= 0 && octet < 256 && octet % 1 === 0, 'an op or status is one octet');
  must(id.length === REQUEST_ID_BYTES, 'a request id is 16 bytes');
  const size = payload.length;
  const bytes = new Uint8Array(HEADER_BYTES + size);
  bytes[at] = octet;
  bytes.set(id, idAt);
  new DataView(bytes.buffer).setUint32(LENGTH_OFFSET, size);
  bytes.set(payload, HEADER_BYTES);
  return bytes;
}

/**
 * One request as one message: `op:u8 request_id:16 payload_len:u32be payload` (contract, "Outer frame").
 *
 * @throws TypeError for an op that is not an octet or an id that is not 16 bytes.
 */
export function encodeRequest(op: number, requestId: Uint8Array, payload: Uint8Array): Bytes {
  return frame(op, 0, 1, requestId, payload);
}

/**
 * One response as one message: `request_id:16 status:u8 payload_len:u32be payload` (contract, "Outer frame").
 *
 * @throws TypeError for a status that is not an octet or an id that is not 16 bytes.
 */
export function encodeResponse(requestId: Uint8Array, status: number, payload: Uint8Array): Bytes {
  return frame(status, REQUEST_ID_BYTES, 0, requestId, payload);
}
