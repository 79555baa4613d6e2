import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Test } from 'tap';

/** One answer of the server, given in a test. */
export type Answer = (request: IncomingMessage, response: ServerResponse) => void;

export const json =
  (status: number, body: unknown, headers: Record<string, string> = {}): Answer =>
  (_request, response) => {
    response.writeHead(status, {
      'content-type': 'application/json',
      'cache-control': 'no-store',
      ...headers,
    });
    response.end(JSON.stringify(body));
  };

export const html =
  (status: number, body: string): Answer =>
  (_request, response) => {
    response.writeHead(status, { 'content-type': 'text/html; charset=utf-8' }).end(body);
  };

export const redirect =
  (status: number, to: string): Answer =>
  (_request, response) => {
    response.writeHead(status, { location: to, 'cache-control': 'no-store' }).end();
  };

export const ORGANIZATION = { id: 'org_1', slug: 'acme' };

/**
 * A server that answers the reserved paths in the words of the runtime protocol, for one person. It keeps no cookies and checks
 * nothing: it is here to give each single answer on demand, the wrong ones too. Whole journeys run against the local platform.
 */
export const startStandIn = async (t: Test) => {
  const answers = new Map<string, Answer>();
  const requests: IncomingMessage[] = [];
  const state: { user: Record<string, unknown> | null } = { user: null };
  answers.set('GET /.nnumbers/auth/session', (request, response) =>
    json(203, { user: state.user, organization: ORGANIZATION })(request, response),
  );
  answers.set(
    'GET /.nnumbers/v1/context',
    json(203, {
      app: { id: 'app_1' },
      organization: ORGANIZATION,
      auth: { login_path: '/.nnumbers/auth/login', logout_path: '/.nnumbers/auth/logout' },
    }),
  );
  answers.set('POST /.nnumbers/auth/logout', (request, response) => {
    if (request.headers.origin !== undefined && request.headers.origin !== url) {
      return json(403, { code: 'FORBIDDEN', message: 'no' })(request, response);
    }
    state.user = null;
    redirect(303, '/')(request, response);
  });
  const server = createServer((request, response) => {
    requests.push(request);
    const path = (request.url ?? '').split('?')[0];
    (answers.get(`${request.method} ${path}`) ?? html(404, 'not here'))(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  t.teardown(close);
  return {
    url,
    state,
    requests,
    close,
    /** Answers `METHOD /path` this way from now on. */
    on: (methodAndPath: string, answer: Answer) => answers.set(methodAndPath, answer),
    count: (path: string) => requests.filter((request) => request.url === path).length,
  };
};

/** Gives Node what a page's environment has and Node lacks: where the page is, and a storage of the tab. */
export const pretendPage = (t: Test, href: string) => {
  const visited: string[] = [];
  const stored = new Map<string, string>();
  const location = {
    href,
    origin: new URL(href).origin,
    assign: (to: string) => visited.push(to),
  };
  const sessionStorage = {
    getItem: (key: string) => stored.get(key) ?? null,
    setItem: (key: string, value: string) => stored.set(key, value),
    removeItem: (key: string) => stored.delete(key),
  };
  t.intercept(globalThis, 'location' as keyof typeof globalThis, { value: location, configurable: true });
  t.intercept(globalThis, 'sessionStorage' as keyof typeof globalThis, {
    value: sessionStorage,
    configurable: true,
  });
  return { visited, stored, location };
};
