import { HEADER_BYTES, LENGTH_OFFSET } from './wire.js';

/** Bytes over memory of their own, as `WebSocket.send` takes them. */
export type Bytes = Uint8Array<ArrayBuffer>;

const utf8 = new TextEncoder();

/** UTF-8 of a text. A lone surrogate would become U+FFFD silently: refuse it first (see `callText`). */
export const encodeText = (text: string): Bytes => utf8.encode(text);

/** A frame in either direction: octet and id change places (contract, "Outer frame"). Unchecked: see `codec`. */
export function encodeFrame(
  octet: number,
  at: number,
  id: Uint8Array,
  idAt: number,
  payload: Uint8Array,
): Bytes {
  const bytes = new Uint8Array(HEADER_BYTES + payload.length);
  bytes[at] = octet;
  bytes.set(id, idAt);
  new DataView(bytes.buffer).setUint32(LENGTH_OFFSET, payload.length);
  bytes.set(payload, HEADER_BYTES);
  return bytes;
}
