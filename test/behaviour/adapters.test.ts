import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createRuntime, identityHeaderLines } from '@nn-runtime/core';
import { type ErrorMiddleware, type Middleware, nnumbers as middleware } from '@nn-runtime/express';
import nnumbers from '@nn-runtime/fastify';
import { createExpress4App } from '@nn-runtime-test/express4';
import express from 'express';
import Fastify from 'fastify';
import t, { type Test } from 'tap';
import { environment, makeKey, NOW_MS, token } from '../tokens.js';

/** Each framework's own ways to get in between (reference cases 57, 60, 62). */

const key = makeKey('k1');
const options = { env: environment([key]), now: () => NOW_MS };
const good = { 'X-NNumbers-Identity': token(key) };
const bad = { 'X-NNumbers-Identity': 'junk' };
const EVA = { kind: 'person', subject: 'eva' };

/** Both versions of Express, by what they have in common: their types do not fit together in one program. */
interface PlainExpress extends RequestListener {
  use(handler: Middleware): unknown;
  use(handler: ErrorMiddleware): unknown;
  use(path: string, router: PlainExpress): unknown;
  get(path: string, ...handlers: Middleware[]): unknown;
}
const expresses: readonly (readonly [name: string, create: () => PlainExpress])[] = [
  ['Express 5', () => express() as unknown as PlainExpress],
  ['Express 4', () => createExpress4App() as PlainExpress],
];

async function listening(t: Test, listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const who: Middleware = (request, response) => {
  const { identity } = request as IncomingMessage & { identity: { kind: string; subject?: string } };
  response.end(identity.subject ?? identity.kind);
};

const answerError: ErrorMiddleware = (error, _request, response, _next) => {
  response.statusCode = 500;
  response.end(String(error));
};
const answerAllIsWell: ErrorMiddleware = (_error, _request, response, _next) => {
  response.end('all is well');
};

const textOf = async (url: string, headers: Record<string, string> = {}): Promise<unknown[]> => {
  const response = await fetch(url, { headers });
  return [response.status, await response.text()];
};
const REFUSED = [
  401,
  '{"code":"IDENTITY_ASSERTION_INVALID","message":"The identity of this request does not check out."}',
];

function countVerified(t: Test): () => number {
  let count = 0;
  const listener = (): void => {
    count += 1;
  };
  subscribe('nn-runtime:identity.verified', listener);
  t.teardown(() => unsubscribe('nn-runtime:identity.verified', listener));
  return () => count;
}

for (const [name, create] of expresses) {
  t.test(`${name}: an identity somebody put there before is overwritten`, async (t) => {
    const earlier: Record<string, (request: IncomingMessage) => unknown> = {
      'by assignment': (request) => Object.assign(request, { identity: EVA, queryMesh: () => EVA }),
      'behind a setter that ignores': (request) =>
        Object.defineProperty(request, 'identity', {
          get: () => EVA,
          set: () => undefined,
          configurable: true,
        }),
      'read-only': (request) =>
        Object.defineProperty(request, 'identity', { value: EVA, configurable: true }),
    };
    for (const [how, put] of Object.entries(earlier)) {
      const app = create();
      app.use((request, _response, next) => {
        put(request);
        next();
      });
      app.use(middleware(options));
      app.get('/', who);
      const url = await listening(t, app);
      t.strictSame(await textOf(url), [200, 'anonymous'], how);
      t.strictSame(await textOf(url, good), [200, 'ana-0001'], how);
      t.strictSame(await textOf(url, bad), REFUSED, how);
    }
  });

  t.test(
    `${name}: an identity that cannot be overwritten is an error of the application, not a person`,
    async (t) => {
      const app = create();
      app.use((request, _response, next) => {
        Object.defineProperty(request, 'identity', { value: EVA });
        next();
      });
      app.use(middleware(options));
      app.get('/', who);
      app.use(answerError);
      const url = await listening(t, app);
      t.strictSame(await textOf(url), [500, 'TypeError: Cannot redefine property: identity']);
      t.strictSame(await textOf(url, good), [500, 'TypeError: Cannot redefine property: identity']);
    },
  );

  t.test(`${name}: used twice, on the application and on a router, it verifies once`, async (t) => {
    const app = create();
    const inner = create();
    inner.use(middleware(options));
    inner.get('/me', who);
    app.use(middleware(options));
    app.use(middleware(options));
    app.use('/inner', inner);
    const url = await listening(t, app);
    const verified = countVerified(t);
    t.strictSame(await textOf(`${url}/inner/me`, good), [200, 'ana-0001']);
    t.equal(verified(), 1);
    t.strictSame(await textOf(`${url}/inner/me`), [200, 'anonymous']);
    t.strictSame(await textOf(`${url}/inner/me`, bad), REFUSED);
  });

  t.test(`${name}: an error handler that answers 200 never sees a refusal`, async (t) => {
    const app = create();
    app.use(middleware(options));
    app.get('/', who);
    app.use(answerAllIsWell);
    const url = await listening(t, app);
    t.strictSame(await textOf(url, bad), REFUSED);
    t.strictSame(await textOf(`${url}/nowhere`, bad), REFUSED);
  });

  t.test(`${name}: a handler that throws is the application's error, and the process lives`, async (t) => {
    const app = create();
    app.use(middleware(options));
    app.get('/', () => {
      throw new Error('of the handler');
    });
    app.use(answerError);
    const url = await listening(t, app);
    t.strictSame(await textOf(url, good), [500, 'Error: of the handler']);
    t.strictSame(await textOf(url), [500, 'Error: of the handler']);
  });

  t.test(`${name}: a refusal that comes after somebody else's answer is left unsaid`, async (t) => {
    const unhandled: unknown[] = [];
    const listener = (error: unknown): number => unhandled.push(error);
    process.on('unhandledRejection', listener);
    t.teardown(() => process.off('unhandledRejection', listener));
    const app = create();
    // As a middleware does that gives up on slow requests.
    let giveUp: () => void = () => undefined;
    app.use((_request, response, next) => {
      giveUp = () => response.end('too slow');
      next();
    });
    let fail: (error: Error) => void = () => undefined;
    const refused = new Promise<void>((resolve) => {
      const ask = (): Promise<Response> =>
        new Promise((_resolve, reject) => {
          fail = reject;
          giveUp();
        });
      app.use(middleware({ ...options, fetch: ask, onRefused: () => resolve() }));
    });
    const url = await listening(t, app);
    const unknown = { 'X-NNumbers-Identity': token(makeKey('unknown')) };
    t.strictSame(await textOf(url, unknown), [200, 'too slow']);
    fail(new Error('the broker is down'));
    await refused;
    // A rejection nobody handled is told of after the turn it came in.
    await new Promise((resolve) => setImmediate(resolve));
    t.strictSame(unhandled, []);
  });

  t.test(`${name}: a refusal is one whole answer where chunks or trailers had been promised`, async (t) => {
    const app = create();
    app.use((request, response, next) => {
      if (request.url !== '/trailer') response.setHeader('Transfer-Encoding', 'chunked');
      response.setHeader('Trailer', 'Server-Timing');
      next();
    });
    app.use(middleware(options));
    const url = await listening(t, app);
    t.strictSame(await textOf(`${url}/chunked`, bad), REFUSED);
    t.strictSame(await textOf(`${url}/trailer`, bad), REFUSED);
  });

  t.test(`${name}: routes before the middleware have no identity`, async (t) => {
    const app = create();
    app.get('/before', (request, response) => response.end(String('identity' in request)));
    app.use(middleware(options));
    const url = await listening(t, app);
    t.strictSame(await textOf(`${url}/before`, good), [200, 'false']);
  });
}

t.test('Fastify: a refusal is one whole answer where chunks or trailers had been promised', async (t) => {
  const app = Fastify();
  t.teardown(() => app.close());
  app.addHook('onRequest', async (request, reply) => {
    if (request.url.startsWith('/chunked')) reply.header('Transfer-Encoding', 'chunked');
    if (request.url.startsWith('/named')) reply.header('Trailer', 'Server-Timing');
    if (request.url.startsWith('/trailer')) reply.trailer('Server-Timing', async () => 'app;dur=1');
  });
  await app.register(nnumbers, options);
  app.get('/:kind', async (request) => request.queryMesh('SELECT 1'));
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  for (const kind of ['chunked', 'named', 'trailer']) {
    t.strictSame(await textOf(`${url}/${kind}`, bad), REFUSED, kind);
    t.strictSame(
      await textOf(`${url}/${kind}`),
      [
        401,
        '{"code":"USER_SESSION_REQUIRED","message":"Sign in to continue.","login_path":"/.nnumbers/auth/login"}',
      ],
      `${kind}, from a handler`,
    );
  }
});

t.test('Fastify: an identity a hook put there before is overwritten', async (t) => {
  const app = Fastify();
  app.addHook('onRequest', async (request) => {
    Object.assign(request, { identity: EVA, queryMesh: () => EVA });
  });
  await app.register(nnumbers, options);
  app.get('/', async ({ identity }) => (identity.kind === 'person' ? identity.subject : identity.kind));
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  t.teardown(() => app.close());
  t.strictSame(await textOf(url), [200, 'anonymous']);
  t.strictSame(await textOf(url, good), [200, 'ana-0001']);
  t.strictSame(await textOf(url, bad), REFUSED);
});

t.test('Fastify: an identity behind a setter that ignores is overwritten', async (t) => {
  const app = Fastify();
  app.addHook('onRequest', async (request) => {
    Object.defineProperty(request, 'identity', {
      configurable: true,
      get: () => EVA,
      set: () => undefined,
    });
  });
  await app.register(nnumbers, options);
  app.get('/', async ({ identity }) => (identity.kind === 'person' ? identity.subject : identity.kind));
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  t.teardown(() => app.close());
  t.strictSame(await textOf(url), [200, 'anonymous']);
  t.strictSame(await textOf(url, good), [200, 'ana-0001']);
});

t.test('Fastify: a request that is injected is held to the same', async (t) => {
  const app = Fastify();
  await app.register(nnumbers, options);
  app.get('/', async ({ identity }) => identity.kind);
  const value = good['X-NNumbers-Identity'];
  const shots = [
    [{}, 'anonymous'],
    [good, 'person'],
    [{ 'x-nnumbers-identity': [value] }, 'person'],
    [{ 'x-nnumbers-identity': [value, value] }, REFUSED[1]],
    [{ 'x-nnumbers-identity': ` ${value}` }, REFUSED[1]],
    [{ 'x-nnumbers-identity': '' }, REFUSED[1]],
    [{ x_nnumbers_identity: value }, 'anonymous'],
  ] as const;
  for (const [headers, expected] of shots) {
    const { body } = await app.inject({ url: '/', headers: headers as Record<string, string> });
    t.equal(
      body,
      expected,
      Object.values(headers)
        .map((lines) => String(lines).slice(0, 8))
        .join(),
    );
  }
  await app.close();
});

t.test('header lines of requests Node did not parse are told apart as well', async (t) => {
  const value = good['X-NNumbers-Identity'];
  const runtime = createRuntime(options);
  t.teardown(() => runtime.close());
  const outcome = (headers: Record<string, string | string[] | undefined>): Promise<string> =>
    runtime.authenticate(identityHeaderLines({ headers })).then(
      ({ identity }) => identity.kind,
      (error: { reason: string }) => error.reason,
    );
  t.equal(await outcome({}), 'anonymous');
  t.equal(await outcome({ 'x-nnumbers-identity': undefined }), 'anonymous');
  t.equal(await outcome({ 'x-nnumbers-identity': value }), 'person');
  t.equal(await outcome({ 'x-nnumbers-identity': [value] }), 'person');
  t.equal(await outcome({ 'x-nnumbers-identity': [value, value] }), 'repeated');
  t.equal(await outcome({ 'x-nnumbers-identity': `${value}, ${value}` }), 'repeated');
  t.equal(await outcome({ 'x-nnumbers-identity': '' }), 'empty');
  // Header names have no case, and only Node's parser promises lower case.
  t.equal(await outcome({ 'X-NNumbers-Identity': value }), 'person');
  t.equal(await outcome({ 'X-NNUMBERS-IDENTITY': '' }), 'empty');
  t.equal(await outcome({ 'X-NNumbers-Identity': value, 'x-nnumbers-identity': value }), 'repeated');
  t.equal(await outcome({ 'X-NNumbers-Identity-2': value, X_NNumbers_Identity: value }), 'anonymous');
});
