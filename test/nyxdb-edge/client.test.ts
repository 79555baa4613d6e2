// The client of @nn-runtime/nyxdb against this edge: what a page gets.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createRuntime } from '@nn-runtime/core';
import { startPlatform } from '@nn-runtime/dev';
import { createEndpointClient as createBrowserClient, developmentProfile } from '@nn-runtime/nyxdb';
import { createEndpointClient, type EndpointClientOptions } from '@nn-runtime/nyxdb/node';
import { createNyxdbEdge, type NyxdbEdgeOptions } from '@nn-runtime/nyxdb-edge';
import t, { type Test } from 'tap';
import { WebSocket as UndiciWebSocket } from 'undici';
import { WebSocket, WebSocketServer } from 'ws';
import { payloadOf, response } from '../nyxdb/engine.js';
import { ManualClock, until } from '../nyxdb/time.js';
import { identity, ORIGIN, startEdge } from './edge.js';

const ana = { authenticate: () => ({ provider: 'app_sessions', token: 't0k' }) };

interface Implementation {
  readonly name: string;
  connect(
    t: Test,
    port: number,
    options?: Partial<EndpointClientOptions>,
  ): ReturnType<typeof createBrowserClient>;
}

const headers = () => ({ origin: ORIGIN, 'x-nnumbers-identity': identity() });

const implementations: readonly Implementation[] = [
  {
    name: 'ws',
    connect(t, port, options = {}) {
      const client = createEndpointClient({
        url: `ws://127.0.0.1:${port}/live`,
        authenticate: 'edge',
        webSocket: (url, protocols) => new WebSocket(url, protocols, { headers: headers() }),
        ...options,
      });
      t.teardown(() => void client.close());
      return client;
    },
  },
  {
    name: 'undici',
    connect(t, port, options = {}) {
      const client = createBrowserClient({
        url: `ws://127.0.0.1:${port}/live`,
        authenticate: 'edge',
        webSocket: (url, protocols = []) => new UndiciWebSocket(url, { protocols, headers: headers() }),
        ...options,
      });
      t.teardown(() => void client.close());
      return client;
    },
  },
];

for (const { connect, name } of implementations) {
  t.test(`${name}: a call, and another on the same socket; no OP_AUTH but the edge's`, async (t) => {
    const { engine, port } = await startEdge(t, ana);
    const client = connect(t, port);
    for (const endpoint of ['first', 'second']) {
      const call = client.execute(endpoint, ['BTC-USD']);
      const peer = endpoint === 'first' ? await engine.ready() : engine.peers[0];
      const request = await peer?.next();
      t.equal(payloadOf(request ?? Buffer.alloc(0)), `${endpoint}\0BTC-USD`);
      peer?.answer(request ?? Buffer.alloc(0), 0, 'a\n1\n');
      t.same((await call).rows, [['1']]);
    }
    t.same(engine.peers[0]?.ops, [0x09, 0x0b, 0x0b]);
    t.match(client.info().sockets, { ready: 1 });
  });

  t.test(`${name}: a call that is given up is cancelled on a relay of its own`, async (t) => {
    const { engine, port } = await startEdge(t, ana);
    const client = connect(t, port);
    const abort = new AbortController();
    const call = client.execute('slow', [], { signal: abort.signal });
    const target = await engine.ready();
    const request = await target.next();
    abort.abort();
    await t.rejects(call, { code: 'CANCELLED' });
    const control = await engine.ready();
    const cancel = await control.next();
    t.equal(cancel[0], 0x0a);
    t.same(cancel.subarray(21), request.subarray(1, 17));
    control.answer(cancel, 0, 'query_id\tcancel_requested\n42\t1\n');
    target.answer(request, 1, 'cancelled');
    await Promise.all([control.closed, target.closed]);
  });

  t.test(`${name}: a person without a token is told at once, and not retried`, async (t) => {
    const { edge, port } = await startEdge(t, { authenticate: () => null });
    const client = connect(t, port, { profile: developmentProfile });
    await t.rejects(client.execute('a'), { code: 'AUTH_FAILED', retryable: false });
    const states = client.subscribe('a');
    await t.rejects(states.next(), { code: 'AUTH_FAILED' });
    t.equal(states.state, 'failed');
    t.equal(edge.status().opened, 2);
  });

  t.test(`${name}: an OP_AUTH of its own ends the relay`, async (t) => {
    const { engine, port } = await startEdge(t, ana);
    const client = connect(t, port, { authenticate: () => ({ provider: 'p', token: 'own' }) });
    await t.rejects(client.execute('a'), { code: 'CONNECTION_LOST', outcome: 'not-sent' });
    await until(() => engine.peers.every(({ socket }) => socket.readyState === 3));
    t.notMatch(engine.peers.flatMap(({ frames }) => frames).join(), /own/);
  });

  t.test(`${name}: a client of its own token, through an edge that lets it authenticate`, async (t) => {
    const { engine, port } = await startEdge(t);
    const client = connect(t, port, { authenticate: () => ({ provider: 'p', token: 'own' }) });
    const call = client.execute('a');
    const peer = await engine.peer();
    t.equal(payloadOf(await peer.authenticate()), 'p\0own');
    peer.answer(await peer.next(), 0, 'a\n');
    t.same((await call).columns, ['a']);
  });

  t.test(
    `${name}: a subscription outlives its relay, with a new snapshot and no gap hidden (C-77)`,
    async (t) => {
      const clock = new ManualClock();
      const {
        clock: edgeClock,
        edge,
        engine,
        port,
      } = await startEdge(t, {
        ...ana,
        random: { fill: (bytes) => crypto.getRandomValues(bytes), fraction: () => 0.5 },
        deadlines: { pingMs: 2_000_000_000 },
      });
      const client = connect(t, port, { profile: developmentProfile, clock });
      const states = client.subscribe('my_fills_live');
      const first = await engine.ready();
      const id = (await first.next()).subarray(1, 17);
      first.send(response(id, 0xd0, 'a\n1\n'));
      t.match(await states.next(), { value: { generation: 1, rows: [['1']], stale: false } });
      const next = states.next();
      edgeClock.advance(900_000);
      await until(() => states.state === 'stale');
      t.equal(states.latest()?.stale, true);
      t.equal(edge.status().live, 0);
      clock.advance(250);
      const second = await engine.ready();
      const again = (await second.next()).subarray(1, 17);
      t.notSame(again, id);
      second.send(response(again, 0xd0, 'a\n2\n'));
      t.match(await next, { value: { kind: 'snapshot', generation: 2, rows: [['2']] } });
      t.equal(states.state, 'live');
    },
  );

  t.test(`${name}: a change of who is signed in closes what was theirs`, async (t) => {
    const { engine, port } = await startEdge(t, ana);
    const client = connect(t, port);
    const call = client.execute('a');
    const peer = await engine.ready();
    await peer.next();
    client.setAuthenticate('edge');
    await t.rejects(call, { code: 'AUTH_CHANGED' });
    await peer.closed;
  });
}

for (const [what, webSocket] of [
  [
    'ws looks at the subprotocol itself',
    (url: string, protocols?: string[]) => new WebSocket(url, protocols, { headers: headers() }),
  ],
  ['a WebSocket that does not', (url: string) => new WebSocket(url, { headers: headers() })],
] as const)
  t.test(`whoever is no edge that authenticates is not spoken to: ${what}`, async (t) => {
    const [{ connect }] = implementations as [Implementation];
    const { edge, engine, port } = await startEdge(t);
    const failed = { code: 'CONNECTION_FAILED', outcome: 'not-sent' };
    await t.rejects(connect(t, port, { webSocket }).execute('a'), failed);
    await until(() => edge.status().connecting + edge.status().live === 0);
    // As the development engine does, and any server that does not know the subprotocol.
    const other = new WebSocketServer({ host: '127.0.0.1', port: 0, handleProtocols: () => false });
    await once(other, 'listening');
    t.teardown(() => other.close());
    const messages: unknown[] = [];
    other.on('connection', (socket) => socket.on('message', (message) => messages.push(message)));
    const url = `ws://127.0.0.1:${(other.address() as AddressInfo).port}`;
    await t.rejects(connect(t, 0, { url, webSocket }).execute('a'), failed);
    t.same([...messages, ...engine.peers.flatMap(({ frames }) => frames)], []);
  });

t.test("'edge' or a function, and nothing else", async (t) => {
  for (const authenticate of ['edges', '', null, undefined, {}] as never[]) {
    t.throws(() => createEndpointClient({ url: 'ws://127.0.0.1:1', authenticate }), TypeError);
    const client = createEndpointClient({ url: 'ws://127.0.0.1:1', authenticate: 'edge' });
    t.throws(() => client.setAuthenticate(authenticate), TypeError);
  }
});

/** An edge of the test's own in front of the development engine. */
async function platformEdge(t: Test, authenticate: NyxdbEdgeOptions['authenticate']) {
  const platform = await startPlatform({ apps: [{ id: 'app' }] });
  const { env } = platform.apps.app;
  const runtime = createRuntime({ env });
  const server = createServer();
  const edge = createNyxdbEdge({
    runtime,
    path: '/live',
    upstream: platform.nyxdbUrl,
    origins: [ORIGIN],
    engineRequiresAuth: true,
    authenticate,
  }).attach(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(async () => {
    await edge.close();
    server.close();
    await runtime.close();
    await platform.close();
  });
  const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}/live`;
  const person = async (email: string, options: Partial<EndpointClientOptions> = {}) => {
    const { identity } = await platform.signIn(email);
    const client = createEndpointClient({
      url,
      authenticate: 'edge',
      profile: developmentProfile,
      webSocket: (address, protocols) =>
        new WebSocket(address, protocols, { headers: { origin: ORIGIN, 'x-nnumbers-identity': identity } }),
      ...options,
    });
    t.teardown(() => client.close());
    return client;
  };
  return { platform, person };
}

t.test('the development engine: two people see each their own, in calls and live (E8)', async (t) => {
  const { person, platform } = await platformEdge(t, ({ sessionId }) => ({
    provider: 'app_sessions',
    token: sessionId,
  }));
  const ana = await person('ana@example.org');
  const bruno = await person('bruno@example.org');
  const ids = async (client: typeof ana) =>
    (await client.execute('my_fills', ['BTC-USD'])).rows.map(([id]) => id);
  const [hers, his] = await Promise.all([ids(ana), ids(bruno)]);
  t.same(hers, ['3', '6', '9']);
  t.same(his, ['12', '15', '18']);
  const hersLive = ana.subscribe('my_fills_live', ['BTC-USD']);
  const hisLive = bruno.subscribe('my_fills_live', ['BTC-USD']);
  t.same((await hersLive.next()).value?.rows.length, 3);
  t.same((await hisLive.next()).value?.rows.length, 3);
  await platform.nyxdb.write('DELETE FROM fills WHERE fill_id = 15');
  t.same(
    (await hisLive.next()).value?.rows.map(([id]) => id),
    ['18', '12'],
  );
  platform.faults.endSession('bruno@example.org');
  await t.rejects(hisLive.next(), { code: 'AUTH_REVOKED' });
  t.equal(hersLive.state, 'live');
});

t.test('the development engine: after a revocation a new token starts afresh (E17)', async (t) => {
  let token = 'local-ana';
  const { person, platform } = await platformEdge(t, () => ({ provider: 'app_sessions', token }));
  const ana = await person('ana@example.org');
  const states = ana.subscribe('my_fills_live', ['BTC-USD']);
  await states.next();
  platform.nyxdb.removeSession('local-ana');
  await t.rejects(states.next(), { code: 'AUTH_REVOKED' });
  token = 'renewed';
  platform.nyxdb.addSession({
    token,
    claims: { user_id: '5b1c7a0e-ana', tenant: 'org_local', role: 'member' },
  });
  const again = ana.subscribe('my_fills_live', ['BTC-USD']);
  t.equal((await again.next()).value?.rows.length, 3);
});

t.test('the development engine: damage ends one relay, and the client comes back', async (t) => {
  const { person, platform } = await platformEdge(t, ({ sessionId }) => ({
    provider: 'app_sessions',
    token: sessionId,
  }));
  const ana = await person('ana@example.org', { backoff: { baseMs: 1 } });
  for (const fault of [
    { on: 'snapshot', do: 'truncate' },
    { on: 'snapshot', do: 'text' },
    { on: 'snapshot', do: 'zeroId' },
    { on: 'snapshot', do: 'reset' },
    { on: 'auth', do: 'wrongId' },
    { on: 'connect', do: 'reset' },
  ] as const) {
    platform.nyxdb.setFaults([fault]);
    const states = ana.subscribe('my_fills_live', ['BTC-USD']);
    t.match((await states.next()).value, { generation: 1, stale: false }, `${fault.on} ${fault.do}`);
    await states.close();
  }
});
