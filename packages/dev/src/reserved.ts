import type { IncomingMessage, ServerResponse } from 'node:http';
import { readReturnTo } from './address.js';
import { answerJson, redirect, refuse } from './answer.js';
import { readCookie, sessionCookie, setCookie } from './cookies.js';
import { profile } from './identity.js';
import type { SignIn } from './signin.js';
import type { PlatformState } from './state.js';
import type { Target } from './target.js';

/** A request to a path under `/.nnumbers/`. */
export interface ReservedRequest {
  /** The resolved path. */
  readonly path: string;
  readonly target: Target;
  /** The Host the request came to: the address itself. */
  readonly host: string;
}

/** The paths that never reach the application (runtime protocol, "The Reserved Paths"). */
export interface ReservedPaths {
  serve(request: IncomingMessage, response: ServerResponse, reserved: ReservedRequest): Promise<void>;
}

type Handler = (
  request: IncomingMessage,
  response: ServerResponse,
  reserved: ReservedRequest,
) => Promise<void> | void;

export function createReservedPaths({
  state,
  appId,
  port,
  signIn,
}: {
  state: PlatformState;
  appId: string;
  port: number;
  signIn: SignIn;
}): ReservedPaths {
  const { organization, sessions } = state;
  const cookieName = sessionCookie(port);
  const sessionOf = (request: IncomingMessage) =>
    sessions.byCookie(appId, readCookie(request.headers.cookie, cookieName));

  const login: Handler = async (_request, response, { target, host }) => {
    const query = new URLSearchParams(target.query);
    const returnTo = readReturnTo(query.getAll('return_to'));
    if (returnTo === undefined)
      return refuse(response, 400, 'VALIDATION_FAILED', 'return_to must be one path of this address');
    const { location, cookie } = await signIn.start({
      host,
      returnTo,
      loginHint: query.get('login_hint') ?? undefined,
    });
    redirect(response, 302, location, [cookie]);
  };

  const callback: Handler = async (request, response, { target, host }) => {
    const finished = await signIn.finish({ host, query: target.query, cookies: request.headers.cookie });
    if (finished === undefined)
      return refuse(response, 400, 'VALIDATION_FAILED', 'this sign-in is not under way: start again');
    // Signing in always makes a new session: one planted in the browser before is worth nothing (session fixation).
    const former = sessionOf(request);
    if (former !== undefined) sessions.end(former);
    const session = sessions.start(appId, finished.person);
    state.journal.person(request, finished.person);
    redirect(response, 302, finished.returnTo, [
      setCookie(cookieName, session.cookie),
      finished.clearedCookie,
    ]);
  };

  const logout: Handler = (request, response, { host }) => {
    // "requires Origin from the address itself": a form on another site cannot sign people out.
    if (request.headers.origin !== `http://${host}`)
      return refuse(response, 403, 'ORIGIN_NOT_ALLOWED', 'sign-out needs the Origin of this address');
    const session = sessionOf(request);
    if (session !== undefined) sessions.end(session);
    redirect(response, 303, '/', [setCookie(cookieName, '', { maxAgeSeconds: 0 })]);
  };

  // 203: "that is how the edge relays the platform's response".
  const session: Handler = (request, response) => {
    const person = sessionOf(request)?.person;
    const user = person === undefined ? null : { sub: person.sub, ...profile(person) };
    answerJson(response, 203, { user, organization });
  };

  const context: Handler = (_request, response) =>
    answerJson(response, 203, {
      app: { id: appId },
      organization,
      auth: { login_path: '/.nnumbers/auth/login', logout_path: '/.nnumbers/auth/logout' },
    });

  const table = new Map<string, { method: 'GET' | 'POST'; handle: Handler }>([
    ['/.nnumbers/auth/login', { method: 'GET', handle: login }],
    ['/.nnumbers/auth/callback', { method: 'GET', handle: callback }],
    ['/.nnumbers/auth/logout', { method: 'POST', handle: logout }],
    ['/.nnumbers/auth/session', { method: 'GET', handle: session }],
    ['/.nnumbers/v1/context', { method: 'GET', handle: context }],
  ]);

  return {
    async serve(request, response, reserved) {
      const row = table.get(reserved.path);
      if (row === undefined) refuse(response, 404, 'NOT_FOUND', 'the platform has no such path');
      else if (request.method !== row.method)
        refuse(response, 405, 'METHOD_NOT_ALLOWED', `only ${row.method} is answered here`, {
          allow: row.method,
        });
      else await row.handle(request, response, reserved);
    },
  };
}
