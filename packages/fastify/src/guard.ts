import { guardPerson } from '@nn-runtime/core';
import type { FastifyRequest } from 'fastify';
import { type ReplyLike, send } from './send.js';

/** An `onRequest` hook, of any kind of server and route: HTTP/2 and TLS have request and reply types of their own. */
export type PersonGuard = (
  request: Pick<FastifyRequest, 'identity' | 'method' | 'originalUrl'> & {
    readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  },
  reply: ReplyLike,
) => Promise<unknown>;

/**
 * A hook for routes that need a person: `{ onRequest: requirePerson() }`. An anonymous page navigation is redirected to sign-in and
 * comes back; anything else anonymous gets 401 `{ code: 'USER_SESSION_REQUIRED', message, login_path }`.
 * @param mistaken nothing: given to a route without parentheses, it would be handed requests, and none would ever be answered.
 */
export function requirePerson(...mistaken: never[]): PersonGuard {
  if (mistaken.length > 0)
    throw new TypeError('requirePerson makes the hook: { onRequest: requirePerson() }');
  return async (request, reply) => {
    if (request.identity === undefined) {
      throw new Error(
        'requirePerson() needs the nnumbers plugin: register it before this route, in this scope or above',
      );
    }
    const answer = guardPerson(request.identity, {
      method: request.method,
      target: request.originalUrl,
      headers: request.headers,
    });
    return answer === undefined ? undefined : send(reply, answer);
  };
}
