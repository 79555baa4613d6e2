import { once } from 'node:events';
import { createRuntime } from '@nn-runtime/core';
import t from 'tap';
import { until } from '../nyxdb/time.js';
import { environment, NOW_MS } from '../tokens.js';
import { AUTH, type Client, EXEC, identity, request, signer, startEdge } from './edge.js';

const SUB = request(0x0c, 'my_fills_live\0BTC-USD');
const ana = { authenticate: () => ({ provider: 'app_sessions', token: 't0k' }) };
const random = (fraction: number) => ({
  fill: (bytes: Uint8Array<ArrayBuffer>) => bytes.fill(7),
  fraction: () => fraction,
});

/** Two round trips: what was on its way has arrived, on both sides. */
async function settled({ socket }: Client): Promise<void> {
  for (let trip = 0; trip < 2; trip++) {
    socket.ping();
    await once(socket, 'pong');
  }
}

for (const [fraction, lifeMs] of [
  [0, 810_000],
  [0.5, 900_000],
  [0.75, 945_000],
] as const)
  t.test(
    `a relay lives ${lifeMs / 60_000} min, then its client is to come back (E16, C-77, N12)`,
    async (t) => {
      const { clock, connect, edge, engine } = await startEdge(t, {
        random: random(fraction),
        // Pings are another test's.
        deadlines: { pingMs: 2_000_000_000 },
        ...ana,
      });
      const client = await connect();
      const peer = await engine.ready();
      client.socket.send(SUB);
      await peer.next();
      await until(() => edge.status().live === 1);
      clock.advance(lifeMs - 1);
      t.equal(edge.status().live, 1);
      clock.advance(1);
      t.same(await client.closed, { code: 4401, reason: 'renew' });
      t.equal(await peer.closed, 1000);
      t.equal(edge.status().people, 0);
    },
  );

t.test(
  'no deadline is longer than a timer waits: the longest life is long, also by chance (E16)',
  async (t) => {
    const delays: number[] = [];
    const { connect, edge, clock } = await startEdge(t, {
      random: random(0.99),
      deadlines: { lifeMs: 2_147_483_647 },
      clock: {
        now: () => 0,
        after(delayMs, run) {
          delays.push(delayMs);
          return clock.after(delayMs, run);
        },
      },
      ...ana,
    });
    await connect();
    await until(() => edge.status().opened === 1);
    t.equal(Math.max(...delays), 2_147_483_647, 'Node would make 1 ms of more');
  },
);

t.test('at the end of its life a call in flight may finish, for drainMs', async (t) => {
  const { clock, connect, engine } = await startEdge(t, {
    random: random(0.5),
    deadlines: { lifeMs: 60_000, drainMs: 10_000, pingMs: 2_000_000_000 },
  });
  const finishing = await connect();
  const first = await engine.peer();
  finishing.socket.send(EXEC);
  await first.next();
  const stuck = await connect();
  const second = await engine.peer();
  stuck.socket.send(EXEC);
  await second.next();
  clock.advance(60_000);
  first.answer(EXEC, 0, 'a\n');
  t.same(await finishing.closed, { code: 4401, reason: 'renew' });
  t.equal(finishing.messages.length, 1, 'behind its answer');
  clock.advance(9_999);
  await settled(stuck);
  t.equal(stuck.socket.readyState, 1);
  clock.advance(1);
  t.same(await stuck.closed, { code: 4401, reason: 'renew' });
});

t.test('drain() ends what waits for nothing, lets calls finish, and refuses new upgrades', async (t) => {
  const { connect, edge, engine, refused } = await startEdge(t, ana);
  const idle = await connect();
  await engine.ready();
  const subscribed = await connect();
  const stream = await engine.ready();
  subscribed.socket.send(SUB);
  await stream.next();
  const calling = await connect();
  const busy = await engine.ready();
  calling.socket.send(EXEC);
  await busy.next();
  let isDrained = false;
  const drained = edge.drain().then(() => {
    isDrained = true;
  });
  t.same(await idle.closed, { code: 1001, reason: 'going-away' });
  t.same(await subscribed.closed, { code: 1001, reason: 'going-away' });
  const refusal = await refused();
  t.equal(refusal.status, 503);
  t.equal(refusal.headers['retry-after'], '5');
  t.match(refusal.text, /EDGE_UNAVAILABLE/);
  t.equal((await refused({ origin: 'https://evil.example' })).status, 503, 'before anything is looked at');
  t.equal(isDrained, false);
  t.match(edge.status(), { live: 1, closing: true });
  busy.answer(EXEC, 0, 'a\n');
  t.same(await calling.closed, { code: 1001, reason: 'going-away' });
  t.equal(calling.messages.length, 1);
  await drained;
  t.match(edge.status(), { checking: 0, connecting: 0, live: 0, people: 0, opened: 3, refused: 2 });
});

t.test(
  'an edge that ends opens nothing for whom it was still checking, and checks nobody any more',
  async (t) => {
    const runtime = createRuntime({ env: environment([signer]), now: () => NOW_MS });
    t.teardown(() => runtime.close());
    let checked = 0;
    let goOn = (): void => {};
    const held = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const { edge, engine, refused } = await startEdge(t, {
      runtime: {
        ...runtime,
        async authenticate(header) {
          checked++;
          await held;
          return runtime.authenticate(header);
        },
      },
    });
    const waiting = refused();
    await until(() => edge.status().checking === 1);
    await edge.drain();
    t.equal((await refused()).status, 503);
    t.equal(checked, 1);
    goOn();
    const { status, text } = await waiting;
    t.equal(status, 503);
    t.match(text, /EDGE_UNAVAILABLE/);
    t.equal(engine.peers.length, 0);
    t.match(edge.status(), { checking: 0, connecting: 0, live: 0, opened: 0, refused: 2 });
  },
);

t.test('close() cuts calls off, and settles when every socket is closed', async (t) => {
  const { clock, connect, edge, engine } = await startEdge(t);
  const client = await connect();
  const peer = await engine.peer();
  client.socket.send(EXEC);
  await peer.next();
  // It does not answer the close frame.
  client.socket.pause();
  const closed = edge.close();
  t.equal(await peer.closed, 1000);
  await until(() => clock.pending > 0);
  clock.advance(2_000);
  await closed;
  client.socket.resume();
  t.match(await client.closed, { code: /1001|1006/ });
});

t.test('a person has at most so many sockets, wherever they come from (4429)', async (t) => {
  const { connect, edge } = await startEdge(t, { limits: { socketsPerPerson: 2 } });
  const person = (changes: object) => ({ 'x-nnumbers-identity': identity({ ...changes }) });
  const first = await connect(person({ sid: 'one' }));
  await connect(person({ sid: 'two', email: 'other@example.org' }));
  const third = await connect(person({ sid: 'three' }));
  t.same(await third.closed, { code: 4429, reason: 'too-many-sockets' });
  await connect(person({ sub: 'bruno-0002' }));
  t.equal(edge.status().people, 2);
  first.socket.close();
  await first.closed;
  await until(() => edge.status().live + edge.status().connecting === 2);
  const again = await connect(person({}));
  await settled(again);
  t.equal(again.socket.readyState, 1, 'one that closed makes room');
});

t.test('eight sockets a person by default', async (t) => {
  const { connect } = await startEdge(t);
  for (let index = 0; index < 8; index++) await connect();
  t.same(await (await connect()).closed, { code: 4429, reason: 'too-many-sockets' });
});

t.test('an edge has at most so many relays', async (t) => {
  const { connect, edge, refused } = await startEdge(t, { limits: { maxRelays: 1 } });
  const client = await connect();
  const { headers, status } = await refused({ 'x-nnumbers-identity': identity({ sub: 'bruno' }) });
  t.equal(status, 503);
  t.equal(headers['retry-after'], '5');
  client.socket.close();
  await until(() => edge.status().live + edge.status().connecting === 0);
  (await connect()).socket.close();
});

t.test('a client that answers no ping is gone after two', async (t) => {
  const { clock, connect, edge, engine } = await startEdge(t, ana);
  const client = await connect();
  const peer = await engine.ready();
  await until(() => edge.status().live === 1);
  const pings: Promise<unknown>[] = [];
  for (let beat = 0; beat < 3; beat++) {
    const pinged = Promise.all([once(client.socket, 'ping'), once(peer.socket, 'ping')]);
    clock.advance(25_000);
    await pinged;
    pings.push(pinged);
    await settled(client);
    peer.socket.ping();
    await once(peer.socket, 'pong');
  }
  t.equal(edge.status().live, 1, 'who answers stays');

  client.socket.pause();
  clock.advance(25_000);
  peer.socket.ping();
  await once(peer.socket, 'pong');
  clock.advance(25_000);
  peer.socket.ping();
  await once(peer.socket, 'pong');
  t.equal(edge.status().live, 1);
  clock.advance(25_000);
  t.equal(await peer.closed, 1000);
  t.equal(edge.status().live, 0);
});

t.test('an engine that answers no ping is gone, but not while it owes an answer', async (t) => {
  const { clock, connect, edge, engine } = await startEdge(t);
  const client = await connect();
  const peer = await engine.peer();
  await until(() => edge.status().live === 1);
  client.socket.send(EXEC);
  await peer.next();
  peer.socket.pause();
  for (let beat = 0; beat < 5; beat++) {
    clock.advance(25_000);
    await settled(client);
  }
  t.equal(edge.status().live, 1);
  peer.answer(EXEC, 0, 'a\n');
  await client.message(0);
  for (let beat = 0; beat < 2; beat++) {
    clock.advance(25_000);
    await settled(client);
  }
  t.equal(edge.status().live, 1);
  clock.advance(25_000);
  t.same(await client.closed, { code: 4503, reason: 'engine-lost' });
});

t.test('nothing is left when a relay is over: no timer', async (t) => {
  const { clock, connect, edge, engine } = await startEdge(t);
  const client = await connect();
  const peer = await engine.peer();
  client.socket.send(AUTH);
  peer.answer(await peer.next(), 0, 'authenticated\n');
  await client.message(0);
  t.ok(clock.pending > 0);
  client.socket.close();
  await peer.closed;
  await until(() => edge.status().live === 0 && clock.pending === 0);
});
