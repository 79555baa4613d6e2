import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';

/** Sends JSON that nobody may store, and closes the answer. */
export function answerJson(
  response: ServerResponse,
  statusCode: number,
  body: string | object,
  headers: OutgoingHttpHeaders = {},
): void {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  response.writeHead(statusCode, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(text),
    'cache-control': 'no-store',
    ...headers,
  });
  response.end(text);
}

const refusals = new WeakMap<ServerResponse, string>();

/** The code of the refusal that was sent here, if one was. */
export const refusalCode = (response: ServerResponse): string | undefined => refusals.get(response);

/** Sends a refusal in the runtime protocol's form: `{ code, message }`. */
export function refuse(
  response: ServerResponse,
  statusCode: number,
  code: string,
  message: string,
  headers: OutgoingHttpHeaders = {},
): void {
  refusals.set(response, code);
  answerJson(response, statusCode, { code, message }, headers);
}

/** Sends the browser on; the answer is not to be stored. */
export function redirect(
  response: ServerResponse,
  statusCode: 302 | 303,
  location: string,
  cookies: readonly string[] = [],
): void {
  response.writeHead(statusCode, {
    location,
    'cache-control': 'no-store',
    'content-length': 0,
    ...(cookies.length > 0 ? { 'set-cookie': [...cookies] } : {}),
  });
  response.end();
}

/** Reads a body up to a cap; undefined when it is longer. What is past the cap is read and dropped, never kept. */
export async function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    const part = Buffer.isBuffer(chunk) ? chunk : Buffer.from(String(chunk));
    bytes += part.length;
    if (bytes <= maxBytes) chunks.push(part);
    else chunks.length = 0;
  }
  return bytes > maxBytes ? undefined : Buffer.concat(chunks);
}
