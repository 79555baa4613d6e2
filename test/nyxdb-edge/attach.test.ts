import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import type { Duplex } from 'node:stream';
import fastifyWebsocket from '@fastify/websocket';
import { createRuntime } from '@nn-runtime/core';
import { nnumbers as middleware } from '@nn-runtime/express';
import nnumbers from '@nn-runtime/fastify';
import { createNyxdbEdge } from '@nn-runtime/nyxdb-edge';
import nyxdbEdge from '@nn-runtime/nyxdb-edge/fastify';
import express from 'express';
import Fastify from 'fastify';
import t, { type Test } from 'tap';
import { WebSocket, WebSocketServer } from 'ws';
import { startEngine } from '../nyxdb/engine.js';
import { RawConnection, requestText } from '../raw-http.js';
import { environment, NOW_MS } from '../tokens.js';
import { EXEC, identity, ORIGIN, signer, startEdge } from './edge.js';

const runtimeOptions = { env: environment([signer]), now: () => NOW_MS };

const edgeOptions = (upstream: string) => ({
  path: '/live',
  upstream,
  origins: [ORIGIN],
  engineRequiresAuth: true as const,
});

/** Opens a WebSocket as Ana, and gives what came of it. */
async function open(t: Test, port: number, path: string, headers: Record<string, string> = {}) {
  const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, {
    headers: { origin: ORIGIN, 'x-nnumbers-identity': identity(), ...headers },
  });
  t.teardown(() => socket.terminate());
  socket.on('error', () => {});
  const outcome = await Promise.race([
    once(socket, 'open').then(() => 101),
    once(socket, 'unexpected-response').then(([, response]) => {
      response.resume();
      return response.statusCode as number;
    }),
  ]);
  return { socket, outcome };
}

t.test('other paths stay with whoever else listens for upgrades', async (t) => {
  const { connect, edge, server, port } = await startEdge(t);
  const others = new WebSocketServer({ noServer: true });
  const seen: (string | undefined)[] = [];
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    seen.push(request.url);
    others.handleUpgrade(request, socket, head, (webSocket) => {
      webSocket.on('message', () => webSocket.send('the other'));
    });
  });
  const { socket, outcome } = await open(t, port, '/other');
  t.equal(outcome, 101);
  socket.send('who are you?');
  t.equal(String((await once(socket, 'message'))[0]), 'the other');
  for (const path of ['/live/', '/Live', '/%6cive', '//live', '/live/x', '/lives'])
    t.equal((await open(t, port, path)).outcome, 101, path);
  (await connect({}, '/live?a=b')).socket.close();
  t.same(seen, ['/other', '/live/', '/Live', '/%6cive', '//live', '/live/x', '/lives']);
  t.equal(edge.status().opened, 1);
});

t.test('a listener that takes every upgrade does not get ours', async (t) => {
  const { connect, engine, server, port } = await startEdge(t);
  // As a ws server does on a path that is not its own: it answers 400 on the socket.
  const greedy = new WebSocketServer({ server, path: '/greedy' });
  t.teardown(() => greedy.close());
  const client = await connect();
  client.socket.send(EXEC);
  t.same(await (await engine.peer()).next(), EXEC);
  t.equal((await open(t, port, '/greedy')).outcome, 101);
});

t.test('without other listeners, an upgrade to elsewhere is an ordinary request', async (t) => {
  const { handled, port } = await startEdge(t);
  const { outcome } = await open(t, port, '/elsewhere?a=b');
  t.equal(outcome, 404, "the application's answer");
  t.same(handled, ['GET /elsewhere?a=b']);
  const raw = await RawConnection.open(port);
  const h2c = await raw.request(
    ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQAAP__'],
    '/live',
  );
  t.equal(h2c.status, 404, 'and so is an upgrade to something else, on our path');
  const body = await RawConnection.open(port);
  body.write(
    'POST /a HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: h2c\r\nContent-Length: 3\r\n\r\nabc',
  );
  t.equal((await body.answer()).status, 501, 'its body cannot be had any more');
  t.same(handled, ['GET /elsewhere?a=b', 'GET /live']);
  const ordinary = await RawConnection.open(port);
  t.equal((await ordinary.request([], '/live')).status, 404, 'no upgrade, no edge');
  for (const connection of [raw, body, ordinary]) connection.close();
});

for (const [what, target, upgrade] of [
  ['to the edge', '/live', 'websocket'],
  ['to elsewhere', '/elsewhere', 'websocket'],
  ['to something else', '/live', 'h2c'],
])
  t.test(
    `an upgrade pipelined behind a request without its answer ends the connection, and nothing else: ${what}`,
    async (t) => {
      const slow: ServerResponse[] = [];
      const server = createServer((request, response) => {
        if (request.url === '/slow') slow.push(response);
        else response.end('here');
      });
      const engine = await startEngine(t);
      const runtime = createRuntime(runtimeOptions);
      const edge = createNyxdbEdge({ runtime, ...edgeOptions(engine.url) }).attach(server);
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      t.teardown(async () => {
        server.close();
        await Promise.all([edge.close(), runtime.close()]);
      });
      const { port } = server.address() as AddressInfo;
      const socket = connect(port, '127.0.0.1');
      const received: Buffer[] = [];
      socket.on('data', (chunk: Buffer) => received.push(chunk)).on('error', () => {});
      const ended = once(socket, 'close');
      socket.write(
        requestText([], '/slow') +
          requestText(
            [
              'Connection: Upgrade',
              `Upgrade: ${upgrade}`,
              'Sec-WebSocket-Version: 13',
              'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
              `Origin: ${ORIGIN}`,
              `X-NNumbers-Identity: ${identity()}`,
            ],
            target,
          ),
      );
      await ended;
      t.equal(Buffer.concat(received).length, 0, 'no answer that belongs to the other request');
      t.equal(slow.length, 1);
      slow[0]?.end('too late');
      t.equal(edge.status().opened, 0);
      const next = await RawConnection.open(port);
      t.equal((await next.request([], '/after')).body, 'here', 'the process lives');
      next.close();
    },
  );

t.test('an upgrade behind a request that was answered is as good as any', async (t) => {
  const { edge, port } = await startEdge(t);
  const raw = await RawConnection.open(port);
  t.equal((await raw.request([], '/before', 'HEAD')).status, 404);
  const handshake = await raw.request(
    [
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Version: 13',
      'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
      `Origin: ${ORIGIN}`,
      `X-NNumbers-Identity: ${identity()}`,
    ],
    '/live',
  );
  t.equal(handshake.status, 101);
  t.equal(edge.status().opened, 1);
  raw.close();
});

t.test('HTTP/1.0 has no upgrades: an ordinary request (RFC 9110 section 7.8)', async (t) => {
  const { edge, handled, port } = await startEdge(t);
  const raw = await RawConnection.open(port);
  raw.write(
    requestText(
      [
        'Connection: Upgrade',
        'Upgrade: websocket',
        'Sec-WebSocket-Version: 13',
        'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
        `Origin: ${ORIGIN}`,
        `X-NNumbers-Identity: ${identity()}`,
      ],
      '/live',
    ).replace('HTTP/1.1', 'HTTP/1.0'),
  );
  t.equal((await raw.answer()).status, 404);
  t.same(handled, ['GET /live']);
  t.equal(edge.status().opened, 0);
  raw.close();
});

t.test('two edges on one server, each with its path; one path twice is a mistake', async (t) => {
  const { edge, server, port, engine } = await startEdge(t);
  const runtime = createRuntime(runtimeOptions);
  t.teardown(() => runtime.close());
  const other = createNyxdbEdge({
    runtime,
    path: '/other',
    upstream: engine.url,
    origins: [ORIGIN],
    engineRequiresAuth: true,
  }).attach(server);
  t.teardown(() => other.close());
  t.equal((await open(t, port, '/other')).outcome, 101);
  t.equal((await open(t, port, '/live')).outcome, 101);
  t.same([edge.status().opened, other.status().opened], [1, 1]);
  t.throws(() => edge.attach(server), { message: /claimed already/ });
});

t.test('one edge on two servers', async (t) => {
  const { edge } = await startEdge(t);
  const server = createServer();
  edge.attach(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  t.equal((await open(t, (server.address() as AddressInfo).port, '/live')).outcome, 101);
});

t.test('Fastify: the runtime is the one of the nnumbers plugin; app.close() drains', async (t) => {
  const engine = await startEngine(t);
  const app = Fastify();
  await app.register(nnumbers, runtimeOptions);
  await app.register(nyxdbEdge, edgeOptions(engine.url));
  app.get('/live', async () => 'a page');
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  const { outcome, socket } = await open(t, port, '/live');
  t.equal(outcome, 101);
  await engine.peer();
  t.equal((await open(t, port, '/live', { origin: 'https://evil.example' })).outcome, 403);
  t.equal((await open(t, port, '/live', { 'x-nnumbers-identity': 'x.y.z' })).outcome, 401);
  t.equal(await (await fetch(`http://127.0.0.1:${port}/live`)).text(), 'a page');
  t.equal((await open(t, port, '/nothing')).outcome, 404);
  const closed = once(socket, 'close');
  await app.close();
  t.equal((await closed)[0], 1001);
});

t.test('Fastify: beside @fastify/websocket, and under a prefix', async (t) => {
  const engine = await startEngine(t);
  const app = Fastify();
  await app.register(nnumbers, runtimeOptions);
  await app.register(fastifyWebsocket);
  await app.register(
    async (scope) => {
      await scope.register(nyxdbEdge, edgeOptions(engine.url));
      scope.get('/echo', { websocket: true }, (socket) => {
        socket.on('message', (data: Buffer) => socket.send(data));
      });
    },
    { prefix: '/v1' },
  );
  await app.register(nyxdbEdge, { ...edgeOptions(engine.url), prefix: '/v2' });
  await app.listen({ host: '127.0.0.1', port: 0 });
  t.teardown(() => app.close());
  const { port } = app.server.address() as AddressInfo;
  for (const path of ['/v1/live', '/v2/live']) {
    const { outcome, socket } = await open(t, port, path);
    t.equal(outcome, 101, path);
    socket.send(EXEC);
    t.same(await (await engine.peer()).next(), EXEC);
    socket.terminate();
  }
  const { socket } = await open(t, port, '/v1/echo');
  socket.send('hello');
  t.equal(String((await once(socket, 'message'))[0]), 'hello');
  t.equal((await open(t, port, '/live')).outcome, 404);
});

t.test('Fastify: without a runtime, all faults at registration', async (t) => {
  const app = Fastify();
  await t.rejects(async () => app.register(nyxdbEdge, { path: 'live' } as never), {
    code: 'CONFIGURATION_INVALID',
    message: /runtime: is missing[\s\S]*path: [\s\S]*upstream: [\s\S]*origins: [\s\S]*engineRequiresAuth: /,
  });
});

t.test('Fastify: a runtime made elsewhere', async (t) => {
  const engine = await startEngine(t);
  const runtime = createRuntime(runtimeOptions);
  t.teardown(() => runtime.close());
  const app = Fastify();
  await app.register(nyxdbEdge, { ...edgeOptions(engine.url), runtime });
  await app.listen({ host: '127.0.0.1', port: 0 });
  t.teardown(() => app.close());
  t.equal((await open(t, (app.server.address() as AddressInfo).port, '/live')).outcome, 101);
});

t.test('Express: beside the middleware, with its runtime', async (t) => {
  const engine = await startEngine(t);
  const identityOf = middleware(runtimeOptions);
  const app = express().use(identityOf);
  app.get('/live', (request, response) => {
    response.json(request.identity.kind);
  });
  const server = createServer(app);
  const { runtime } = identityOf;
  const edge = createNyxdbEdge({ runtime, ...edgeOptions(engine.url) }).attach(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const { outcome } = await open(t, port, '/live');
  t.equal(outcome, 101);
  t.equal((await open(t, port, '/other')).outcome, 404);
  await edge.drain();
  await new Promise((resolve) => server.close(resolve));
  await runtime.close();
});
