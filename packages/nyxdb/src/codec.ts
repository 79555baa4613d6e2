import { type Bytes, encodeFrame } from './encode.js';
import { must } from './require.js';
import { REQUEST_ID_BYTES } from './wire.js';

function check(octet: number, id: Uint8Array, payload: Uint8Array): void {
  must(octet >= 0 && octet < 256 && octet % 1 === 0, 'an op or status is one octet');
  must(id.length === REQUEST_ID_BYTES, 'a request id is 16 bytes');
  must(payload.length < 2 ** 32, 'a payload is under 4 GiB');
}

/**
 * One request as one message: `op:u8 request_id:16 payload_len:u32be payload` (contract, "Outer frame").
 *
 * @throws TypeError for an op that is not an octet, or an id that is not 16 bytes.
 */
export function encodeRequest(op: number, requestId: Uint8Array, payload: Uint8Array): Bytes {
  check(op, requestId, payload);
  return encodeFrame(op, 0, requestId, 1, payload);
}

/**
 * One response as one message: `request_id:16 status:u8 payload_len:u32be payload` (contract, "Outer frame").
 *
 * @throws TypeError for a status that is not an octet, or an id that is not 16 bytes.
 */
export function encodeResponse(requestId: Uint8Array, status: number, payload: Uint8Array): Bytes {
  check(status, requestId, payload);
  return encodeFrame(status, REQUEST_ID_BYTES, requestId, 0, payload);
}
