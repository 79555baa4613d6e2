import { HEADER_BYTES, LENGTH_OFFSET } from './wire.js';

/** Bytes over memory of their own, as `WebSocket.send` takes them. */
export type Bytes = Uint8Array<ArrayBuffer>;

const utf8 = new TextEncoder();

/**
 * UTF-8 of a text. A lone surrogate would become U+FFFD silently: refuse it first (see `callText`).
 */
export function encodeText(text: string): Bytes {
  // Most requests are short and ASCII, for which TextEncoder costs several times this loop.
  const bytes = new Uint8Array(text.length);
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code > 127) return utf8.encode(text);
    bytes[index] = code;
  }
  return bytes;
}

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
  // Big-endian, by hand: a DataView costs as much as the rest of the frame.
  for (let index = 0; index < 4; index++) bytes[LENGTH_OFFSET + index] = payload.length >>> (24 - 8 * index);
  bytes.set(payload, HEADER_BYTES);
  return bytes;
}
