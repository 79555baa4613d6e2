import type { HttpReply } from './http-client.js';

/** Thrown while reading a body that is longer than its limit. Never shown to anybody: the caller turns it into its own error. */
export class BodyTooLargeError extends Error {}

/**
 * Reads a body to its end, counting decoded bytes, so that a small compressed answer cannot grow without bound either.
 * Content-Length is not consulted: it is only a promise, and of the compressed size.
 * @throws BodyTooLargeError past `maxBytes`; whatever the stream throws otherwise.
 */
export async function readBody({ body }: HttpReply, maxBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body ?? []) {
    length += chunk.byteLength;
    // Leaving the loop ends the stream, and with it the connection.
    if (length > maxBytes) throw new BodyTooLargeError();
    chunks.push(chunk);
  }
  return chunks.length === 1 ? (chunks[0] as Uint8Array) : Buffer.concat(chunks, length);
}
