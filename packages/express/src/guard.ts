import { guardPerson, type Identity } from '@nn-runtime/core';
import type { Middleware } from './middleware.js';
import { send } from './send.js';

/**
 * A middleware for routes that need a person. An anonymous page navigation is redirected to sign-in and comes back; anything else
 * anonymous gets 401 `{ code: 'USER_SESSION_REQUIRED', message, login_path }`.
 * @param mistaken nothing: given to a route without parentheses, it would be handed requests, and none would ever be answered.
 */
export function requirePerson(...mistaken: never[]): Middleware {
  if (mistaken.length > 0)
    throw new TypeError('requirePerson makes the middleware: app.get(path, requirePerson(), handler)');
  return (request, response, next) => {
    const { identity, originalUrl = request.url } = request as {
      identity?: Identity;
      originalUrl?: string;
      url?: string;
    };
    if (identity === undefined) {
      next(new Error('requirePerson() needs the nnumbers middleware: use it before this route'));
      return;
    }
    const answer = guardPerson(identity, {
      method: request.method ?? '',
      target: originalUrl ?? '',
      headers: request.headers,
    });
    if (answer === undefined) next();
    else send(response, answer);
  };
}
