import type { IncomingMessage, ServerResponse } from 'node:http';
import { httpAnswerOf, RuntimeError } from '@nn-runtime/core';
import { send } from './send.js';

/** An error middleware of Express 4 and 5 alike. */
export type ErrorMiddleware = (
  error: unknown,
  request: IncomingMessage,
  response: ServerResponse,
  next: (error?: unknown) => void,
) => void;

/**
 * Answers the refusals no handler caught, a query's above all, with their own status, headers and `{ code, message }`; passes everything
 * else on. Use it after the routes: `app.use(errorHandler())`. Without it, Express sends its HTML page, with the same status.
 */
export function errorHandler(): ErrorMiddleware {
  return (error, _request, response, next) => {
    if (error instanceof RuntimeError && !response.headersSent) send(response, httpAnswerOf(error));
    else next(error);
  };
}
