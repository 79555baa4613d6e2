import { createServer } from 'node:http';
import { createRuntime } from '@nn-runtime/core';
import { nnumbers as middleware } from '@nn-runtime/express';
import nnumbers from '@nn-runtime/fastify';
import express from 'express';
import Fastify from 'fastify';
import t from 'tap';
import { one, startRawBroker, whole } from '../raw-broker.js';
import { environment, makeKey, NOW_MS, token } from '../tokens.js';

/** An application that ends leaves no connection to the broker behind. */

const key = makeKey('k1');
// The broker would keep its connections for far longer than a test may take.
const startBroker = () =>
  startRawBroker((socket) => socket.write(whole(one(1), ['Keep-Alive: timeout=999'])));
const headers = { 'x-nnumbers-identity': token(key) };

t.test('Fastify: closing the application closes the connections of its runtime', async (t) => {
  const broker = await startBroker();
  t.teardown(() => broker.close());
  const app = Fastify();
  await app.register(nnumbers, { env: environment([key], broker.url), now: () => NOW_MS });
  app.get('/', (request) => request.queryMesh('SELECT 1'));
  const ask = () => app.inject({ url: '/', headers });
  const answers = await Promise.all([ask(), ask(), ask()]);
  t.strictSame(
    answers.map((answer) => answer.json().rows),
    [[[1]], [[1]], [[1]]],
  );
  t.equal(broker.openCount(), 3, 'kept for the next queries');
  await app.close();
  await broker.allClosed();
  t.equal(broker.openCount(), 0);
});

t.test('Express: closing the runtime of the middleware does', async (t) => {
  const broker = await startBroker();
  t.teardown(() => broker.close());
  const identify = middleware({ env: environment([key], broker.url), now: () => NOW_MS });
  const app = express().use(identify);
  app.get('/', async (request, response) => {
    response.json(await request.queryMesh('SELECT 1'));
  });
  const server = createServer(app);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  const { port } = server.address() as { port: number };
  const ask = async () => (await fetch(`http://127.0.0.1:${port}/`, { headers })).json();
  t.match(await Promise.all([ask(), ask(), ask()]), [{ rows: [[1]] }, { rows: [[1]] }, { rows: [[1]] }]);
  t.equal(broker.openCount(), 3, 'kept for the next queries');
  await identify.runtime.close();
  await broker.allClosed();
  t.equal(broker.openCount(), 0);
});

t.test('a runtime that was made elsewhere, with its connections, outlives the application', async (t) => {
  const broker = await startBroker();
  const runtime = createRuntime({ env: environment([key], broker.url), now: () => NOW_MS });
  t.teardown(async () => {
    await runtime.close();
    await broker.close();
  });
  const app = Fastify();
  await app.register(nnumbers, { runtime });
  app.get('/', (request) => request.queryMesh('SELECT 1'));
  await app.inject({ url: '/', headers });
  await app.close();
  const { queryMesh } = await runtime.authenticate(headers['x-nnumbers-identity']);
  await queryMesh('SELECT 1');
  t.equal(broker.connections.length, 1);
});

t.test('who asks after the end is told that it is the end', async (t) => {
  const broker = await startBroker();
  t.teardown(() => broker.close());
  const runtime = createRuntime({ env: environment([key], broker.url), now: () => NOW_MS });
  const { queryMesh } = await runtime.authenticate(headers['x-nnumbers-identity']);
  const never = runtime.authenticate(token(makeKey('unknown'))).catch((error: unknown) => error);
  const underWay = queryMesh('SELECT 1').catch((error: unknown) => error);
  await runtime.close();
  const cause = { message: 'the runtime is closed' };
  t.match(await underWay, { code: 'QUERYMESH_ABORTED', cause });
  await t.rejects(queryMesh('SELECT 1'), { code: 'QUERYMESH_ABORTED', cause });
  await t.rejects(runtime.authenticate(undefined), { code: 'APPLICATION_IDENTITY_NOT_READY', cause });
  t.match(await never, { code: 'APPLICATION_IDENTITY_NOT_READY' });
});
