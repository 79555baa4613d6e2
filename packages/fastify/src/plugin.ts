import { STATUS_CODES } from 'node:http';
import {
  bodyHeaders,
  endWithResponse,
  httpAnswerOf,
  identityHeaderLines,
  type Runtime,
  RuntimeError,
  type RuntimeOptions,
  runtimeOf,
} from '@nn-runtime/core';
import type { FastifyPluginAsync, FastifyRequest, RegisterOptions } from 'fastify';
import fp from 'fastify-plugin';
import { send } from './send.js';

/** Options of the plugin: those of `createRuntime`, or a runtime that was made elsewhere and is closed there. */
export interface NNumbersOptions extends RuntimeOptions {
  /** A ready runtime; the other options are not looked at then. Default: one of its own, closed with the application. */
  readonly runtime?: Runtime | undefined;
}

const plugin: FastifyPluginAsync<NNumbersOptions> = async (app, options) => {
  for (const name of ['identity', 'queryMesh']) {
    if (app.hasRequestDecorator(name)) {
      throw new Error(
        `request.${name} exists already: nnumbers is registered in this scope or above it, or another plugin owns the name`,
      );
    }
  }
  // Fastify hands its own options of `register` on with ours.
  const { prefix, logLevel, logSerializers, ...own } = options as NNumbersOptions & RegisterOptions;
  const runtime = runtimeOf(own);
  app.decorate('nnumbers', runtime);
  app.decorateRequest('identity');
  app.decorateRequest('queryMesh');

  // onRequest: a body is never read for a request that is refused. It runs for unknown routes too, so a bad identity
  // is 401 there as well.
  app.addHook('onRequest', async (request, reply) => {
    try {
      const caller = await runtime.authenticate(identityHeaderLines(request.raw));
      define(request, 'identity', caller.identity);
      define(request, 'queryMesh', endWithResponse(caller.queryMesh, reply.raw));
      return;
    } catch (error) {
      if (!(error instanceof RuntimeError)) throw error;
      // Sent from here and not thrown: an application's error handler must not be able to turn it into a success.
      return send(reply, httpAnswerOf(error));
    }
  });

  // A refusal no handler caught. Fastify's own error body is replaced by the platform's `{ code, message }`, status and headers being
  // right already; whatever an application's error handler sends is left as it is.
  const uncaught = new WeakMap<FastifyRequest, RuntimeError>();
  app.addHook('onError', async (request, _reply, error) => {
    if (error instanceof RuntimeError) uncaught.set(request, error);
  });
  // With a callback: this runs for every answer, and a promise each is what it would cost most.
  app.addHook('onSend', (request, reply, body, done) => {
    const error = uncaught.get(request);
    if (error === undefined || body !== fastifyErrorBody(error)) {
      done(null, body);
      return;
    }
    const answer = httpAnswerOf(error);
    for (const name of bodyHeaders) reply.removeHeader(name);
    // Fastify counts the length anew, also for HEAD, unless trailers are to follow: those come in chunks.
    reply.headers(answer.headers);
    done(null, answer.body);
  });

  if (options.runtime === undefined) app.addHook('onClose', () => runtime.close());
};

// Defined, not assigned, nor by `setDecorator`, which the first releases of Fastify 5 lack: whatever an earlier hook left there, a value
// or a setter, is replaced.
function define(request: FastifyRequest, name: 'identity' | 'queryMesh', value: unknown): void {
  Object.defineProperty(request, name, { configurable: true, enumerable: true, writable: true, value });
}

// What Fastify's default handler makes of an error (lib/error-handler.js, fallbackErrorHandler).
function fastifyErrorBody({ statusCode, code, message }: RuntimeError): string {
  return JSON.stringify({ statusCode, code, error: STATUS_CODES[statusCode], message });
}

/**
 * The Fastify plugin: `await app.register(nnumbers)`. Decorates every request of its scope with `identity` and `queryMesh`, and refuses
 * with 401 a request whose identity does not check out (503 when that cannot be known).
 * @throws ConfigurationError at registration, naming every wrong variable at once.
 */
export const nnumbers = fp(plugin, { fastify: '5.x', name: '@nn-runtime/fastify' });
export default nnumbers;
