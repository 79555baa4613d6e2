import type { ServerResponse } from 'node:http';
import { bodyHeaders, type HttpAnswer } from '@nn-runtime/core';

/** Sends an answer of the runtime as it is, whatever a handler had begun to say. */
export function send(response: ServerResponse, answer: HttpAnswer): void {
  for (const name of bodyHeaders) response.removeHeader(name);
  response.statusCode = answer.statusCode;
  for (const [name, value] of Object.entries(answer.headers)) response.setHeader(name, value);
  // Node does not count by itself once the header was removed: the answer would come in chunks.
  response.setHeader('content-length', Buffer.byteLength(answer.body ?? ''));
  response.end(answer.body);
}
