import type { HttpAnswer } from '@nn-runtime/core';
import type { FastifyReply } from 'fastify';

/** Sends an answer of the runtime as it is. */
export function send(reply: FastifyReply, answer: HttpAnswer): FastifyReply {
  return reply.code(answer.statusCode).headers(answer.headers).send(answer.body);
}
