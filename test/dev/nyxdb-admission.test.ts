import t from 'tap';
import { engine, id, request, type Wire } from './fixtures/wire.js';

/** Longer than anybody's patience: 10^14 rows to count. */
const endpoints = [
  {
    name: 'endless',
    using: 'app_sessions',
    sql: 'SELECT count(*) FROM range(10000000) a, range(10000000) b',
  },
  { name: 'quick', using: 'app_sessions', sql: 'SELECT 1 AS one' },
];
const quick: [number, string] = [0, 'one\n1\n'];
const none: [number, string] = [0, 'query_id\tcancel_requested\n0\t0\n'];

/** Waits, by asking the engine for nothing, until so many calls are in it. */
async function until(control: Wire, stats: () => { executions: number }, executions: number): Promise<void> {
  while (stats().executions !== executions) await control.ask(0x0a, id(0xee));
}

const { nyxdb, as } = await engine(t, {
  endpoints,
  limits: { concurrent: 1, queued: 2, admissionMs: 600_000 },
});
const control = await as('local-ana');

t.test(
  'a request behind a full queue is rejected; those in it run when a place is free, in order',
  async (t) => {
    const wires = [await as('local-ana'), await as('local-ana'), await as('local-ana')];
    const [running, second, third] = wires;
    running?.send(request(0x0b, id(1), 'endless'));
    await until(control, nyxdb.stats, 1);
    second?.send(request(0x0b, id(2), 'endless'));
    await until(control, nyxdb.stats, 2);
    third?.send(request(0x0b, id(3), 'quick'));
    await until(control, nyxdb.stats, 3);
    t.same(await control.ask(0x0b, 'quick'), [1, 'server busy: query admission rejected']);
    await control.ask(0x0a, id(1));
    t.same((await running?.answer())?.body, 'dev: cancelled');
    await control.ask(0x0a, id(2));
    t.same((await second?.answer())?.body, 'dev: cancelled');
    t.same((await third?.answer())?.body, 'one\n1\n');
  },
);

t.test('cancel reaches an executing and a queued request, from another connection', async (t) => {
  const executing = await as('local-ana');
  const queued = await as('local-ana');
  executing.send(request(0x0b, id(0xa0), 'endless'));
  await until(control, nyxdb.stats, 1);
  queued.send(request(0x0b, id(0xb0), 'quick'));
  await until(control, nyxdb.stats, 2);
  const queuedAck = await control.ask(0x0a, id(0xb0));
  t.match(queuedAck, [0, /^query_id\tcancel_requested\n[1-9]\d*\t1\n$/]);
  t.same((await queued.answer()).body, 'dev: cancelled');
  const executingAck = await control.ask(0x0a, id(0xa0));
  t.match(executingAck, [0, /^query_id\tcancel_requested\n[1-9]\d*\t1\n$/]);
  t.not(queuedAck[1], executingAck[1], 'each query has its own number');
  t.same(await executing.answer(), { id: 'a0'.repeat(16), status: 1, body: 'dev: cancelled' });
  t.same(await control.ask(0x0a, id(0xa0)), none, 'stale');
  t.same(await executing.ask(0x0b, 'quick', id(0xa1)), quick, 'its connection goes on');
});

t.test('no target: missing, zero, or registered twice', async (t) => {
  t.same(await control.ask(0x0a, id(5)), none);
  t.same(await control.ask(0x0a, Buffer.alloc(16)), none);
  for (const length of [0, 15, 17])
    t.same(await control.ask(0x0a, Buffer.alloc(length, 5)), [1, 'invalid parameter']);
  const twins = [await as('local-ana'), await as('local-ana')];
  for (const twin of twins) twin.send(request(0x0b, id(5), 'endless'));
  await until(control, nyxdb.stats, 2);
  t.same(await control.ask(0x0a, id(5)), none);
  t.equal(nyxdb.stats().executions, 2, 'neither of them was cancelled');
  await twins[0]?.close();
  await until(control, nyxdb.stats, 1);
  t.match(await control.ask(0x0a, id(5)), [0, /\t1\n$/], 'the one that is left');
  t.same((await twins[1]?.answer())?.body, 'dev: cancelled');
});

t.test('requests of one connection run one after the other, a cancel too', async (t) => {
  const wire = await as('local-ana');
  wire.send(request(0x0b, id(1), 'endless'));
  wire.send(request(0x0a, id(2), id(1)));
  wire.send(request(0x0b, id(3), 'quick'));
  await until(control, nyxdb.stats, 1);
  t.match(await control.ask(0x0a, id(1)), [0, /\t1\n$/]);
  t.same(await wire.answer(), { id: '01'.repeat(16), status: 1, body: 'dev: cancelled' });
  t.same(await wire.answer(), { id: '02'.repeat(16), status: 0, body: none[1] });
  t.same(await wire.answer(), { id: '03'.repeat(16), status: 0, body: 'one\n1\n' });
});

t.test('a connection that goes takes its request along', async (t) => {
  const running = await as('local-ana');
  running.send(request(0x0b, id(1), 'endless'));
  await until(control, nyxdb.stats, 1);
  running.socket.terminate();
  await until(control, nyxdb.stats, 0);
  t.same(await control.ask(0x0b, 'quick'), quick);
});

t.test('a request that waits too long is timed out, and its place in the queue is free', async (t) => {
  const { nyxdb, as } = await engine(t, { endpoints, limits: { concurrent: 1, queued: 1, admissionMs: 20 } });
  const control = await as('local-ana');
  const running = await as('local-ana');
  running.send(request(0x0b, id(1), 'endless'));
  await until(control, nyxdb.stats, 1);
  for (let time = 0; time < 2; time++)
    t.same(await control.ask(0x0b, 'quick', id(3)), [1, 'server busy: query admission timed out']);
  await control.ask(0x0a, id(1));
  t.same((await running.answer()).body, 'dev: cancelled');
  t.same(await control.ask(0x0b, 'quick', id(4)), quick);
});

t.test('a user has a quota of running calls; another user has one of their own', async (t) => {
  const { nyxdb, as } = await engine(t, {
    endpoints,
    limits: { executionsPerUser: 1, concurrent: 4 },
  });
  const control = await as('local-bruno');
  const running = await as('local-ana');
  running.send(request(0x0b, id(1), 'endless'));
  await until(control, nyxdb.stats, 1);
  const second = await as('local-ana');
  t.same(await second.ask(0x0b, 'quick'), [1, 'dev: quota exceeded']);
  t.same(await control.ask(0x0b, 'quick'), quick);
  await control.ask(0x0a, id(1));
  t.equal((await running.answer()).body, 'dev: cancelled');
  t.same(await second.ask(0x0b, 'quick'), quick);
});
