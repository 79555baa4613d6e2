/** Thrown while reading a body that is longer than its limit. Never shown to anybody: the caller turns it into its own error. */
export class BodyTooLargeError extends Error {}

/**
 * Reads a body to its end, counting decoded bytes, so that a small compressed answer cannot grow without bound either.
 * Content-Length is not consulted: it is only a promise, and of the compressed size.
 * @throws BodyTooLargeError past `maxBytes`; whatever the stream throws otherwise.
 */
export async function readBody(response: Response, maxBytes: number): Promise<Uint8Array> {
  if (response.body === null) return new Uint8Array();
  const reader = response.body.getReader();
  const chunks: Uint8Array[] = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.byteLength;
    if (length > maxBytes) {
      reader.cancel().catch(() => undefined);
      throw new BodyTooLargeError();
    }
    chunks.push(value);
  }
  return chunks.length === 1 ? (chunks[0] as Uint8Array) : Buffer.concat(chunks, length);
}

/** Lets go of a body nobody wants, so that its connection is free again. */
export function discardBody(response: Response): void {
  response.body?.cancel().catch(() => undefined);
}
