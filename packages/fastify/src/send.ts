import type { HttpAnswer } from '@nn-runtime/core';
import type { FastifyReply } from 'fastify';

/** Sends an answer of the runtime as it is. */
export function send(reply: FastifyReply, answer: HttpAnswer): FastifyReply {
  const { raw: request } = reply.request;
  if (request.headers.upgrade !== undefined) {
    // An upgrade that is refused before @fastify/websocket saw it leaves a socket nobody owns, and `app.close()` waits for it for ever.
    reply.header('connection', 'close');
    reply.raw.once('finish', () => request.socket.destroySoon());
  }
  return reply.code(answer.statusCode).headers(answer.headers).send(answer.body);
}
