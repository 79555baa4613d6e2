import { EventEmitter, once } from 'node:events';
import { connect, constants } from 'node:http2';
import type { AddressInfo } from 'node:net';
import websocket from '@fastify/websocket';
import { createRuntime } from '@nn-runtime/core';
import nnumbers, { assertPerson, requirePerson } from '@nn-runtime/fastify';
import Fastify from 'fastify';
import t from 'tap';
import { WebSocket } from 'ws';
import { answerJson, startScriptedBroker } from '../broker.js';
import { environment, makeKey, NOW_MS, token } from '../tokens.js';

const key = makeKey('k1');
const options = { env: environment([key]), now: () => NOW_MS };
const good = { 'x-nnumbers-identity': token(key) };
const bad = { 'x-nnumbers-identity': 'x.y.z' };

t.test('the first releases of Fastify 5 will do: their requests have no setDecorator', async (t) => {
  const app = Fastify();
  t.teardown(() => app.close());
  app.addHook('onRequest', async (request) => {
    Object.defineProperty(request, 'setDecorator', { value: undefined });
  });
  await app.register(nnumbers, options);
  app.get('/who', async (request) => [request.identity, typeof request.queryMesh]);
  const answer = await app.inject({ url: '/who', headers: good });
  t.match(answer.json(), [{ kind: 'person', subject: 'ana-0001' }, 'function']);
});

t.test('routes under a prefix and in encapsulated children have an identity', async (t) => {
  const app = Fastify();
  t.teardown(() => app.close());
  await app.register(nnumbers, options);
  await app.register(
    async (child) => {
      child.get('/who', async (request) => request.identity);
      await child.register(async (grandchild) => {
        grandchild.get('/deep', async (request) => request.identity);
      });
    },
    { prefix: '/api' },
  );
  for (const url of ['/api/who', '/api/deep']) {
    t.match((await app.inject({ url, headers: good })).json(), { kind: 'person', subject: 'ana-0001' }, url);
    t.strictSame((await app.inject({ url })).json(), { kind: 'anonymous' }, url);
    t.equal((await app.inject({ url, headers: bad })).statusCode, 401, url);
  }
});

t.test('registered in a child scope, it leaves the others alone', async (t) => {
  const app = Fastify();
  t.teardown(() => app.close());
  await app.register(async (child) => {
    await child.register(nnumbers, options);
    child.get('/inside', async (request) => request.identity);
  });
  app.get('/outside', async (request) => ({ has: 'identity' in request }));
  t.strictSame((await app.inject({ url: '/inside' })).json(), { kind: 'anonymous' });
  t.strictSame((await app.inject({ url: '/outside', headers: bad })).json(), { has: false });
});

t.test('inject with a repeated header is refused', async (t) => {
  const app = Fastify();
  t.teardown(() => app.close());
  await app.register(nnumbers, options);
  const identity = token(key);
  const response = await app.inject({
    url: '/',
    headers: { 'x-nnumbers-identity': [identity, identity] as never },
  });
  t.equal(response.statusCode, 401);
});

t.test('two installations in one line of scopes are a clear error', async (t) => {
  const app = Fastify();
  t.teardown(() => app.close());
  await app.register(nnumbers, options);
  await t.rejects(async () => app.register(nnumbers, options), {
    message: /request\.identity exists already/,
  });
});

t.test('a child scope cannot install it again', async (t) => {
  const app = Fastify();
  t.teardown(() => app.close().catch(() => undefined));
  await app.register(nnumbers, options);
  const child = app.register(async (scope) => {
    await scope.register(nnumbers, options);
  });
  await t.rejects(async () => child, { message: /request\.identity exists already/ });
});

t.test('another plugin that owns the name is a clear error', async (t) => {
  const app = Fastify();
  t.teardown(() => app.close());
  app.decorateRequest('identity', null as never);
  await t.rejects(async () => app.register(nnumbers, options), { message: /another plugin owns the name/ });
});

t.test('a wrong configuration fails the registration and names every variable', async (t) => {
  const app = Fastify();
  t.teardown(() => app.close());
  await t.rejects(async () => app.register(nnumbers, { env: {} }), {
    code: 'CONFIGURATION_INVALID',
    message:
      /NNUMBERS_IDENTITY_JWKS[\s\S]*NNUMBERS_BROKER_URL[\s\S]*NNUMBERS_IDENTITY_ISSUER[\s\S]*NNUMBERS_APP_ID[\s\S]*NNUMBERS_ORG_ID/,
  });
});

t.test('an error handler that answers 200 to everything cannot let a bad identity in', async (t) => {
  const app = Fastify();
  t.teardown(() => app.close());
  await app.register(nnumbers, options);
  app.setErrorHandler((_error, _request, reply) => reply.code(200).send({ fine: true }));
  let ran = false;
  app.get('/', async () => {
    ran = true;
    return {};
  });
  const response = await app.inject({ url: '/', headers: bad });
  t.equal(response.statusCode, 401);
  t.equal(ran, false);
});

t.test(
  'an application with its own error handler gets the refusal of a query, and gives its own answer',
  async (t) => {
    const broker = await startScriptedBroker();
    broker.onQuery(answerJson(403, { code: 'QUERYMESH_ACCESS_DENIED', message: '' }));
    // The strictest setting: a plugin that set an error handler of its own would make this registration throw.
    const app = Fastify({ allowErrorHandlerOverride: false });
    t.teardown(async () => {
      await app.close();
      await broker.close();
    });
    await app.register(nnumbers, { ...options, env: environment([key], broker.url) });
    app.setErrorHandler((error: { code: string }, _request, reply) =>
      reply.code(418).send({ statusCode: 1, seen: error.code }),
    );
    app.get('/', async (request) => request.queryMesh('SELECT 1'));
    const response = await app.inject({ url: '/', headers: good });
    t.equal(response.statusCode, 418);
    t.strictSame(response.json(), { statusCode: 1, seen: 'QUERYMESH_ACCESS_DENIED' });
  },
);

t.test('errors that are not ours keep the answer of Fastify', async (t) => {
  const app = Fastify();
  t.teardown(() => app.close());
  await app.register(nnumbers, options);
  app.get('/', async () => {
    throw Object.assign(new Error('mine'), { statusCode: 409 });
  });
  t.strictSame((await app.inject({ url: '/' })).json(), {
    statusCode: 409,
    error: 'Conflict',
    message: 'mine',
  });
});

t.test('assertPerson in a handler answers 401', async (t) => {
  const app = Fastify();
  t.teardown(() => app.close());
  await app.register(nnumbers, options);
  app.get('/', async (request) => {
    assertPerson(request.identity);
    return { subject: request.identity.subject };
  });
  const refused = await app.inject({ url: '/' });
  t.equal(refused.statusCode, 401);
  t.strictSame(refused.json(), {
    code: 'USER_SESSION_REQUIRED',
    message: 'Sign in to continue.',
    login_path: '/.nnumbers/auth/login',
  });
  t.strictSame((await app.inject({ url: '/', headers: good })).json(), { subject: 'ana-0001' });
});

t.test('unknown routes: anonymous is 404, by the own handler too, a bad identity 401', async (t) => {
  for (const own of [false, true]) {
    const app = Fastify();
    await app.register(nnumbers, options);
    if (own) app.setNotFoundHandler(async (request, reply) => reply.code(404).send(request.identity));
    t.equal((await app.inject({ url: '/nowhere' })).statusCode, 404);
    t.equal((await app.inject({ url: '/nowhere', method: 'OPTIONS' })).statusCode, 404);
    if (own) t.match((await app.inject({ url: '/nowhere', headers: good })).json(), { subject: 'ana-0001' });
    for (const method of ['GET', 'HEAD', 'OPTIONS', 'POST'] as const) {
      t.equal((await app.inject({ url: '/nowhere', method, headers: bad })).statusCode, 401, method);
    }
    await app.close();
  }
});

t.test('HTTP/2 requests have an identity', async (t) => {
  const app = Fastify({ http2: true });
  await app.register(nnumbers, options);
  app.get('/', async (request) => request.identity);
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  const session = connect(`http://127.0.0.1:${port}`);
  t.teardown(async () => {
    session.close();
    await app.close();
  });
  const get = (headers: Record<string, string | string[]>) =>
    new Promise<{ status: number; body: string }>((resolve, reject) => {
      const stream = session.request({ ':path': '/', ...headers });
      let status = 0;
      let body = '';
      stream.on('response', (response) => {
        status = Number(response[':status']);
      });
      stream.setEncoding('utf8').on('data', (chunk: string) => {
        body += chunk;
      });
      stream.on('end', () => resolve({ status, body })).on('error', reject);
    });
  t.strictSame(await get({}), { status: 200, body: '{"kind":"anonymous"}' });
  t.match(JSON.parse((await get(good)).body), { subject: 'ana-0001' });
  t.equal((await get(bad)).status, 401);
  const identity = token(key);
  t.equal((await get({ 'x-nnumbers-identity': [identity, identity] })).status, 401);
});

t.test(
  'over HTTP/2, a query ends with its client, also one that is asked after the client went',
  async (t) => {
    const broker = await startScriptedBroker();
    const app = Fastify({ http2: true });
    await app.register(nnumbers, { ...options, env: environment([key], broker.url) });
    const progress = new EventEmitter();
    app.get('/during', async (request) => {
      progress.emit('during', await request.queryMesh('SELECT 1').catch((error: unknown) => error));
    });
    app.get('/after', async (request, reply) => {
      const gone = once(reply.raw, 'close');
      progress.emit('entered');
      await gone;
      progress.emit('after', await request.queryMesh('SELECT 1').catch((error: unknown) => error));
    });
    await app.listen({ host: '127.0.0.1', port: 0 });
    const session = connect(`http://127.0.0.1:${(app.server.address() as AddressInfo).port}`);
    t.teardown(async () => {
      session.destroy();
      await app.close();
      await broker.close();
    });
    const asked = new Promise<void>((resolve) => broker.onQuery(() => resolve()));
    const duringEnded = once(progress, 'during');
    const during = session.request({ ':path': '/during', ...good });
    await asked;
    during.close(constants.NGHTTP2_CANCEL);
    t.match(await duringEnded, [{ code: 'QUERYMESH_ABORTED' }]);

    broker.onQuery(answerJson(200, { columns: [], rows: [] }));
    const entered = once(progress, 'entered');
    const afterEnded = once(progress, 'after');
    const after = session.request({ ':path': '/after', ...good });
    await entered;
    after.close(constants.NGHTTP2_CANCEL);
    t.match(await afterEnded, [{ code: 'QUERYMESH_ABORTED' }]);
    t.equal(broker.requests.length, 1, 'the second query was never sent');
  },
);

t.test('an injected request that is given up ends its query', async (t) => {
  const broker = await startScriptedBroker();
  const app = Fastify();
  t.teardown(async () => {
    await app.close();
    await broker.close();
  });
  await app.register(nnumbers, { ...options, env: environment([key], broker.url) });
  let outcome: unknown;
  const ended = new Promise<void>((resolve) => {
    app.get('/', async (request) => {
      outcome = await request.queryMesh('SELECT 1').catch((error: unknown) => error);
      resolve();
    });
  });
  const asked = new Promise<void>((resolve) => broker.onQuery(() => resolve()));
  const controller = new AbortController();
  const injected = app.inject({ url: '/', headers: good, signal: controller.signal }).catch(() => undefined);
  await asked;
  controller.abort();
  await Promise.all([ended, injected]);
  t.match(outcome, { code: 'QUERYMESH_ABORTED' });
});

t.test('a WebSocket upgrade carries the identity, and a bad one is refused before 101', async (t) => {
  const broker = await startScriptedBroker();
  const app = Fastify();
  await app.register(nnumbers, { ...options, env: environment([key], broker.url) });
  await app.register(websocket);
  app.get('/live', { websocket: true }, (socket, request) => {
    socket.send(JSON.stringify(request.identity));
    socket.on('message', () => {
      request.queryMesh('SELECT 1').then(
        (result) => socket.send(JSON.stringify(result)),
        (error: { code: string }) => socket.send(error.code),
      );
    });
  });
  app.get('/private', { websocket: true, onRequest: requirePerson() }, (socket) => socket.send('in'));
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  t.teardown(async () => {
    await app.close();
    await broker.close();
  });
  const open = (path: string, headers: Record<string, string>) =>
    new Promise<{ socket: WebSocket; first: string }>((resolve, reject) => {
      const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, { headers });
      socket.once('message', (data) => resolve({ socket, first: String(data) }));
      socket.once('error', reject);
    });
  const person = await open('/live', good);
  t.match(JSON.parse(person.first), { kind: 'person', subject: 'ana-0001' });
  const second = new Promise((resolve) => person.socket.once('message', (data) => resolve(String(data))));
  person.socket.send('ask');
  t.match(
    JSON.parse(String(await second)),
    { rows: [['BRAZIL', 1]] },
    'a query over an open socket is answered',
  );
  person.socket.terminate();
  const stranger = await open('/live', {});
  t.equal(stranger.first, '{"kind":"anonymous"}');
  stranger.socket.terminate();
  await t.rejects(open('/live', bad), { message: /401/ });
  await t.rejects(open('/private', {}), { message: /401/ });
  const guest = await open('/private', good);
  t.equal(guest.first, 'in');
  guest.socket.terminate();
});

t.test('the guard says what is missing when the plugin is not there', async (t) => {
  const app = Fastify();
  t.teardown(() => app.close());
  app.get('/', { onRequest: requirePerson() }, async () => ({}));
  const response = await app.inject({ url: '/' });
  t.equal(response.statusCode, 500);
  t.match(response.json(), { message: /needs the nnumbers plugin/ });
});

t.test('the runtime it made is closed with the application; a runtime it was given is not', async (t) => {
  const own = Fastify();
  await own.register(nnumbers, options);
  const ownRuntime = own.nnumbers;
  t.match(ownRuntime.status(), { environmentKeys: 1, lastRefresh: 'never' });
  await own.close();
  await t.rejects(ownRuntime.authenticate(undefined), { code: 'APPLICATION_IDENTITY_NOT_READY' });

  const runtime = createRuntime(options);
  const given = Fastify();
  await given.register(nnumbers, { runtime });
  t.equal(given.nnumbers, runtime);
  await given.close();
  t.strictSame((await runtime.authenticate(undefined)).identity, { kind: 'anonymous' });
  await runtime.close();
});

t.test('HEAD of an uncaught refusal announces the length that GET has', async (t) => {
  // With a HEAD route of its own, whose length Fastify leaves as it finds it.
  const app = Fastify({ exposeHeadRoutes: false });
  t.teardown(() => app.close());
  await app.register(nnumbers, options);
  app.route({
    method: ['GET', 'HEAD'],
    url: '/private',
    handler: async (request) => assertPerson(request.identity),
  });
  const [get, head] = await Promise.all(
    (['GET', 'HEAD'] as const).map((method) => app.inject({ method, url: '/private' })),
  );
  t.equal(get?.headers['content-length'], String(get?.rawPayload.byteLength));
  t.equal(head?.headers['content-length'], get?.headers['content-length']);
});

t.test(
  'requirePerson that is used without being called is an error, not a request without an answer',
  async (t) => {
    const app = Fastify();
    t.teardown(() => app.close());
    await app.register(nnumbers, options);
    let reached = false;
    Reflect.apply(app.get, app, [
      '/',
      { onRequest: requirePerson },
      () => {
        reached = true;
      },
    ]);
    const answer = await app.inject('/');
    t.equal(answer.statusCode, 500);
    t.equal(answer.json().message, 'requirePerson makes the hook: { onRequest: requirePerson() }');
    t.equal(reached, false);
  },
);
