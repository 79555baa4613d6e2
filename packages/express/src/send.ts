import type { ServerResponse } from 'node:http';
import type { HttpAnswer } from '@nn-runtime/core';

/** Sends an answer of the runtime as it is. */
export function send(response: ServerResponse, answer: HttpAnswer): void {
  response.statusCode = answer.statusCode;
  for (const [name, value] of Object.entries(answer.headers)) response.setHeader(name, value);
  response.end(answer.body);
}
