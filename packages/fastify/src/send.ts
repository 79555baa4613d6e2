import type { Socket } from 'node:net';
import { bodyHeaders, type HttpAnswer } from '@nn-runtime/core';

/** What is used of a reply. Fastify's own type is another one for each kind of server (HTTP/2, TLS) and of route. */
export interface ReplyLike {
  readonly raw: { once(event: 'finish', listener: () => void): unknown };
  readonly request: {
    readonly raw: { readonly headers: { readonly upgrade?: string | undefined }; readonly socket: Socket };
  };
  code(statusCode: number): unknown;
  header(name: string, value: string): unknown;
  removeHeader(name: string): unknown;
  headers(values: Record<string, string>): unknown;
  send(payload?: unknown): unknown;
}

/** Sends an answer of the runtime as it is, and gives the reply back, as an asynchronous hook has to. */
export function send<Reply extends ReplyLike>(reply: Reply, answer: HttpAnswer): Reply {
  const { raw: request } = reply.request;
  if (request.headers.upgrade !== undefined) {
    // An upgrade that is refused before @fastify/websocket saw it leaves a socket nobody owns, and `app.close()` waits for it for ever.
    reply.header('connection', 'close');
    reply.raw.once('finish', () => request.socket.destroySoon());
  }
  for (const name of bodyHeaders) reply.removeHeader(name);
  reply.code(answer.statusCode);
  reply.headers(answer.headers);
  reply.send(answer.body);
  return reply;
}
