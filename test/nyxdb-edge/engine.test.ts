import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer, type Socket } from 'node:net';
import type { Credentials } from '@nn-runtime/nyxdb-edge';
import t, { type Test } from 'tap';
import { WebSocketServer } from 'ws';
import { payloadOf, response } from '../nyxdb/engine.js';
import { until } from '../nyxdb/time.js';
import { AUTH, EXEC, identity, request, startEdge } from './edge.js';

const ana = { authenticate: () => ({ provider: 'app_sessions', token: 't0k' }) };

t.test(
  'nothing of the client reaches the engine: no header, cookie, query or subprotocol (E10)',
  async (t) => {
    const { connect, engine } = await startEdge(t, ana);
    await connect(
      {
        cookie: 'session=c00kie',
        authorization: 'Bearer b3arer',
        'x-forwarded-for': '203.0.113.7',
        'user-agent': 'a browser',
        'sec-websocket-protocol': 'nyxdb.edge-auth.v1',
      },
      '/live?token=qu3ry',
    );
    const { headers, path } = await engine.peer();
    t.equal(path, '/');
    t.same(Object.keys(headers).sort(), [
      'connection',
      'host',
      'sec-websocket-key',
      'sec-websocket-version',
      'upgrade',
    ]);
  },
);

t.test("the upstream's own path is asked for", async (t) => {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
  await once(server, 'listening');
  t.teardown(() => {
    for (const client of server.clients) client.terminate();
    server.close();
  });
  const upstream = `ws://127.0.0.1:${(server.address() as AddressInfo).port}/engine/a`;
  const { connect } = await startEdge(t, { upstream });
  const asked = once(server, 'connection');
  await connect({}, '/live?a=b');
  t.equal((await asked)[1].url, '/engine/a');
});

t.test('the subprotocol is selected where the edge authenticates, and only then', async (t) => {
  const offered = { 'sec-websocket-protocol': ['other', 'nyxdb.edge-auth.v1'] };
  const edgeAuthenticates = await startEdge(t, ana);
  t.equal((await edgeAuthenticates.connect(offered)).socket.protocol, 'nyxdb.edge-auth.v1');
  const passThrough = await startEdge(t);
  await t.rejects(passThrough.connect(offered), { message: 'Server sent no subprotocol' });
});

t.test(
  'each client has an engine connection of its own, and each person their own token (E8, R21)',
  async (t) => {
    const { connect, engine } = await startEdge(t, {
      authenticate: ({ subject }) => ({ provider: null, token: `token-of-${subject}` }),
    });
    const person = (subject: string) => ({ 'x-nnumbers-identity': identity({ sub: subject }) });
    const [ana, bruno, again] = [
      await connect(person('ana')),
      await connect(person('bruno')),
      await connect(person('ana')),
    ];
    const peers = [await engine.ready(), await engine.ready(), await engine.ready()];
    t.same(peers.map(({ frames }) => payloadOf(frames[0] ?? Buffer.alloc(0))).sort(), [
      '\0token-of-ana',
      '\0token-of-ana',
      '\0token-of-bruno',
    ]);
    const of = (token: string) => peers.filter(({ frames }) => frames[0]?.includes(token));
    bruno.socket.send(request(0x0b, "bruno's"));
    const [his] = of('bruno');
    t.equal(payloadOf((await his?.next()) ?? Buffer.alloc(0)), "bruno's");
    his?.answer(EXEC, 0, 'for bruno\n');
    t.match((await bruno.message(0)).toString('latin1'), 'for bruno');
    t.same([...ana.messages, ...again.messages], []);
    t.same(
      of('ana').map(({ frames }) => frames.length),
      [1, 1],
    );
  },
);

t.test('the engine is never opened again behind a client that is still there (E9)', async (t) => {
  for (const changes of [{}, ana]) {
    const { connect, engine, edge } = await startEdge(t, changes);
    const client = await connect();
    const peer = 'authenticate' in changes ? await engine.ready() : await engine.peer();
    await until(() => edge.status().live === 1);
    peer.socket.terminate();
    t.same(await client.closed, { code: 4503, reason: 'engine-lost' });
    t.equal(engine.peers.length, 1);
  }
});

t.test('a client that goes takes its engine connection along', async (t) => {
  const { connect, edge, engine } = await startEdge(t);
  const polite = await connect();
  const first = await engine.peer();
  await until(() => edge.status().live === 1);
  polite.socket.close(4000, 'done');
  t.equal(await first.closed, 1000, "the client's own code stays here");
  t.equal((await polite.closed).code, 4000);
  await until(() => edge.status().live === 0);
  const rude = await connect();
  const second = await engine.peer();
  await until(() => edge.status().live === 1);
  rude.socket.terminate();
  t.equal(await second.closed, 1000);
  await until(() => edge.status().live === 0);
  t.equal(edge.status().people, 0);
});

const closes: readonly (readonly [number | undefined, number, string])[] = [
  [1000, 1000, 'engine-closed'],
  [1001, 4503, 'engine-lost'],
  [1002, 4502, 'engine-refused'],
  [1003, 4502, 'engine-refused'],
  [undefined, 4503, 'engine-lost'],
  [1007, 4502, 'engine-refused'],
  [1008, 4502, 'engine-refused'],
  [1009, 4009, 'over-cap'],
  [1011, 4503, 'engine-lost'],
  [1012, 4503, 'engine-lost'],
  [1013, 4503, 'engine-lost'],
  [1014, 4503, 'engine-lost'],
  [3000, 4503, 'engine-lost'],
  [4401, 4503, 'engine-lost'],
];
t.test('close codes of the engine become ours; its reasons stay here (E13, C-70)', async (t) => {
  const { connect, engine } = await startEdge(t);
  for (const [theirs, code, reason] of closes) {
    const client = await connect();
    const peer = await engine.peer();
    if (theirs === undefined) peer.socket.close();
    else peer.socket.close(theirs, 'a s3cret');
    t.same(await client.closed, { code, reason }, `${theirs}`);
  }
});

t.test('reserved codes are never sent, whatever the engine sends (E13, C-70)', async (t) => {
  const { connect, engine } = await startEdge(t);
  for (const theirs of [1004, 1005, 1006, 1015, 999, 0]) {
    const client = await connect();
    const peer = await engine.peer();
    // By hand: ws itself refuses to send them.
    const raw = (peer.socket as unknown as { _socket: Socket })._socket;
    raw.write(Buffer.from([0x88, 0x02, theirs >> 8, theirs & 0xff]));
    t.same(await client.closed, { code: 4502, reason: 'engine-protocol' }, `${theirs}`);
  }
});

t.test('before the engine is ready one frame is held, and not a second one (C-72)', async (t) => {
  let give = (_credentials: Credentials): void => {};
  const { connect, engine } = await startEdge(t, {
    authenticate: () =>
      new Promise((resolve) => {
        give = resolve;
      }),
  });
  const held = await connect();
  held.socket.send(EXEC);
  held.socket.ping();
  await once(held.socket, 'pong');
  give({ provider: 'p', token: 't' });
  const peer = await engine.ready();
  t.same(await peer.next(), EXEC);

  const two = await connect();
  two.socket.send(EXEC);
  two.socket.send(EXEC);
  t.same(await two.closed, { code: 4429, reason: 'too-early' });
  const large = await connect();
  large.socket.send(request(0x0b, Buffer.alloc(65_536, 0x61)));
  t.same(await large.closed, { code: 4429, reason: 'too-early' });
  t.equal(engine.peers.length, 1);
});

t.test('more may be held where the operator says so; it goes in its order (C-72)', async (t) => {
  let give = (_credentials: Credentials): void => {};
  const { connect, engine } = await startEdge(t, {
    authenticate: () =>
      new Promise((resolve) => {
        give = resolve;
      }),
    limits: { maxHeldFrames: 3, maxHeldBytes: 200_000 },
  });
  const client = await connect();
  for (const text of ['a', 'b', 'c']) client.socket.send(request(0x0b, text.repeat(50_000)));
  client.socket.ping();
  await once(client.socket, 'pong');
  give({ provider: 'p', token: 't' });
  const peer = await engine.ready();
  for (const text of ['a', 'b', 'c']) t.equal((await peer.next())[21], text.charCodeAt(0));
});

for (const [what, status, body, code, reason] of [
  ['auth failed (C-75)', 0x01, 'auth failed', 4502, 'engine-refused'],
  ['busy', 0x01, 'server busy: query admission rejected', 4502, 'engine-refused'],
  ['no LF (C-78)', 0x00, 'authenticated', 4502, 'engine-protocol'],
  ['two LFs (C-78)', 0x00, 'authenticated\n\n', 4502, 'engine-protocol'],
  ['another status', 0x02, 'authenticated\n', 4502, 'engine-protocol'],
] as const)
  t.test(`the engine's answer to the edge's OP_AUTH: ${what} (E11)`, async (t) => {
    const { connect, engine } = await startEdge(t, ana);
    const client = await connect();
    client.socket.send(EXEC);
    const peer = await engine.peer();
    peer.answer(await peer.next(), status, body);
    t.same(await client.closed, { code, reason }, 'no cause');
    t.same(client.messages, [], 'nothing of it is passed on');
    await peer.closed;
    t.equal(peer.frames.length, 1, 'and the call was never sent');
  });

t.test("the answer to the edge's OP_AUTH must carry its id (E11, R14)", async (t) => {
  const { connect, engine } = await startEdge(t, ana);
  const client = await connect();
  const peer = await engine.peer();
  await peer.next();
  peer.send(response(Buffer.alloc(16, 9), 0, 'authenticated\n'));
  t.same(await client.closed, { code: 4502, reason: 'engine-protocol' });
});

t.test("a browser's own OP_AUTH is refused where the edge authenticates (E11)", async (t) => {
  const { connect, engine } = await startEdge(t, ana);
  const client = await connect();
  const peer = await engine.ready();
  client.socket.send(AUTH);
  t.same(await client.closed, { code: 4403, reason: 'operation' });
  await peer.closed;
  t.equal(peer.frames.length, 1);
});

for (const [what, authenticate, code, reason] of [
  ['null (N12)', () => null, 4403, 'no-token'],
  ['undefined', async () => undefined, 4403, 'no-token'],
  [
    'throws',
    () => {
      throw new Error('t0k');
    },
    4503,
    'token-unavailable',
  ],
  ['rejects', () => Promise.reject(new Error('t0k')), 4503, 'token-unavailable'],
  ['an empty token', () => ({ provider: 'p', token: '' }), 4503, 'token-unavailable'],
  ['an empty provider', () => ({ provider: '', token: 't' }), 4503, 'token-unavailable'],
  ['a NUL in the token', () => ({ provider: 'p', token: 't\0x' }), 4503, 'token-unavailable'],
  ['no object', () => 't0k' as never, 4503, 'token-unavailable'],
] as const)
  t.test(`authenticate gives nothing of use: ${what} (C-76)`, async (t) => {
    const { connect, engine } = await startEdge(t, { authenticate });
    t.same(await (await connect()).closed, { code, reason });
    t.equal(engine.peers.length, 0, 'the engine was not asked');
  });

t.test('authenticate hangs (C-76)', async (t) => {
  const { clock, connect, edge, engine } = await startEdge(t, { authenticate: () => new Promise(() => {}) });
  const client = await connect();
  await until(() => edge.status().connecting === 1);
  clock.advance(4_999);
  t.equal(edge.status().connecting, 1);
  clock.advance(1);
  t.same(await client.closed, { code: 4504, reason: 'token-late' });
  t.equal(engine.peers.length, 0);
});

t.test('a late token opens nothing any more', async (t) => {
  let give = (_credentials: Credentials): void => {};
  const { connect, engine, edge } = await startEdge(t, {
    authenticate: () =>
      new Promise((resolve) => {
        give = resolve;
      }),
  });
  const client = await connect();
  client.socket.terminate();
  await until(() => edge.status().connecting === 0);
  give({ provider: 'p', token: 't' });
  // Another relay, all the way: a connection for the first one would have come before.
  await connect();
  await until(() => edge.status().connecting === 1);
  give({ provider: 'p', token: 'of the second' });
  const peer = await engine.ready();
  t.equal(payloadOf(peer.frames[0] ?? Buffer.alloc(0)), 'p\0of the second');
  t.equal(engine.peers.length, 1);
});

/** A TCP server that is no engine. */
async function listen(t: Test, serve: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    serve(socket);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

t.test('an engine that cannot be had', async (t) => {
  const refusing = await listen(t, (socket) =>
    socket.end('HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\n\r\n'),
  );
  const first = await startEdge(t, { upstream: refusing });
  t.same(await (await first.connect()).closed, { code: 4502, reason: 'engine-refused' });

  const hangingUp = await listen(t, (socket) => socket.destroy());
  const second = await startEdge(t, { upstream: hangingUp });
  t.same(await (await second.connect()).closed, { code: 4503, reason: 'engine-unreachable' });

  const silent = await listen(t, () => {});
  const third = await startEdge(t, { upstream: silent });
  const client = await third.connect();
  await until(() => third.edge.status().connecting === 1);
  third.clock.advance(5_000);
  t.same(await client.closed, { code: 4504, reason: 'engine-late' });

  const elsewhere = await listen(t, (socket) =>
    socket.end(`HTTP/1.1 302 Found\r\nlocation: ${first.engine.url}\r\ncontent-length: 0\r\n\r\n`),
  );
  const fourth = await startEdge(t, { upstream: elsewhere });
  t.same(await (await fourth.connect()).closed, { code: 4502, reason: 'engine-refused' });
  t.equal(first.engine.peers.length, 0, 'redirects are not followed');
});

t.test('an engine that does not answer OP_AUTH (C-80)', async (t) => {
  const { clock, connect, engine } = await startEdge(t, ana);
  const client = await connect();
  await (await engine.peer()).next();
  clock.advance(5_000);
  t.same(await client.closed, { code: 4504, reason: 'engine-late' });
});
