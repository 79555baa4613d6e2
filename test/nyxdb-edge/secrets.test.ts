import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { inspect } from 'node:util';
import t from 'tap';
import { until } from '../nyxdb/time.js';
import { EXEC, identity, startEdge } from './edge.js';

const CANARY = 'c4nary';

t.test('a token is in the frame to the engine and nowhere else; claims are nowhere (E11, R26)', async (t) => {
  const events: unknown[] = [];
  const listen = (event: unknown): void => void events.push(event);
  subscribe('nn-runtime:nyxdb-edge', listen);
  t.teardown(() => unsubscribe('nn-runtime:nyxdb-edge', listen));
  const warnings: unknown[] = [];
  const warn = (warning: Error): void => void warnings.push(warning);
  process.on('warning', warn);
  t.teardown(() => process.off('warning', warn));

  const token = `${CANARY}-token`;
  const hers = {
    'x-nnumbers-identity': identity({
      sub: `${CANARY}-sub`,
      sid: `${CANARY}-sid`,
      email: `${CANARY}@example.org`,
    }),
  };
  const received: Buffer[] = [];
  const said: string[] = [];
  let outcome: 'gives' | 'throws' | 'hangs' | 'misframes' = 'gives';
  const { clock, connect, edge, engine, refused } = await startEdge(t, {
    authenticate: () => {
      if (outcome === 'throws') throw new Error(token);
      if (outcome === 'hangs') return new Promise(() => {});
      return { provider: 'app_sessions', token: outcome === 'misframes' ? `${token}\0` : token };
    },
  });
  const tell = (): void => {
    said.push(inspect(edge, { depth: 9, showHidden: true }), JSON.stringify(edge.status()));
  };
  tell();

  // An engine that refuses, one that accepts, and one that says it back while it should not.
  for (const [status, body] of [
    [1, 'auth failed'],
    [0, 'authenticated\n'],
    [1, `auth failed for ${token}`],
    [0, `authenticated ${token}`],
  ] as const) {
    const client = await connect(hers);
    const peer = await engine.peer();
    const auth = await peer.next();
    t.match(auth.toString('latin1'), token);
    tell();
    peer.answer(auth, status, body);
    if (body === 'authenticated\n') {
      client.socket.send(EXEC);
      peer.answer(await peer.next(), 0, 'a\n');
      await client.message(0);
      tell();
      peer.socket.close(4000, token);
    }
    const { reason } = await client.closed;
    said.push(reason);
    received.push(...client.messages);
  }
  for (const next of ['throws', 'misframes', 'hangs'] as const) {
    outcome = next;
    const client = await connect(hers);
    if (next === 'hangs') {
      await until(() => edge.status().connecting === 1);
      clock.advance(5_000);
    }
    said.push((await client.closed).reason);
  }
  const wrong = await refused({ 'x-nnumbers-identity': `${CANARY}.${CANARY}.${CANARY}` });
  said.push(wrong.text, inspect(wrong.headers));
  tell();
  t.ok(events.length >= 8);
  for (const text of [
    ...said,
    ...events.map((event) => inspect(event)),
    ...warnings.map((warning) => inspect(warning)),
  ])
    t.notMatch(text, CANARY);
  for (const message of received) t.notMatch(message.toString('latin1'), CANARY);
});

t.test('events are names, counts and durations', async (t) => {
  const events: Record<string, unknown>[] = [];
  const listen = (event: unknown): void => void events.push(event as Record<string, unknown>);
  subscribe('nn-runtime:nyxdb-edge', listen);
  t.teardown(() => unsubscribe('nn-runtime:nyxdb-edge', listen));
  const { clock, connect, edge, engine, refused } = await startEdge(t);
  await refused({ origin: 'https://evil.example' });
  const client = await connect();
  const peer = await engine.peer();
  await until(() => edge.status().live === 1);
  client.socket.send(EXEC);
  peer.answer(await peer.next(), 0, 'a\n');
  await client.message(0);
  clock.advance(1_500);
  client.socket.close();
  await peer.closed;
  t.same(events, [
    { name: 'upgrade-refused', cause: 'origin', statusCode: 403 },
    { name: 'relay-ready', durationMs: 0 },
    { name: 'relay-ended', reason: 'client-closed', durationMs: 1_500, requests: 1, responses: 1 },
  ]);
});
