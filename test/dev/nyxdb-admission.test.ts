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
const cancelled: [number, string] = [1, 'dev: cancelled'];

const ack = (row: string): [number, string] => [0, `query_id\tcancel_requested\n${row}\n`];

/** Waits, by asking the engine for nothing, until so many calls are in it. */
async function until(control: Wire, stats: () => { executions: number }, executions: number): Promise<void> {
  while (stats().executions !== executions) await control.ask(0x0a, id(0xee));
}

t.test('a request behind a full queue is rejected; one that waits too long is timed out', async (t) => {
  const { nyxdb, as } = await engine(t, {
    endpoints,
    limits: { concurrent: 1, queued: 1, admissionMs: 100 },
  });
  const control = await as('local-ana');
  const running = await as('local-ana');
  running.send(request(0x0b, id(1), 'endless'));
  await until(control, nyxdb.stats, 1);
  const waiting = await as('local-ana');
  waiting.send(request(0x0b, id(2), 'quick'));
  await until(control, nyxdb.stats, 2);
  const rejected = await as('local-ana');
  t.same(await rejected.ask(0x0b, 'quick', id(3)), [1, 'server busy: query admission rejected']);
  t.same(await waiting.answer(), {
    id: '02'.repeat(16),
    status: 1,
    body: 'server busy: query admission timed out',
  });
  t.same((await control.ask(0x0a, id(1)))[1].split('\t').at(-1), '1\n');
  t.same((await running.answer()).body, 'dev: cancelled');
  t.same(await waiting.ask(0x0b, 'quick', id(4)), quick, 'the place is free again');
});

t.test('a queued request runs when a place is free, in order', async (t) => {
  const { nyxdb, as } = await engine(t, {
    endpoints,
    limits: { concurrent: 1, queued: 2, admissionMs: 600_000 },
  });
  const control = await as('local-ana');
  const running = await as('local-ana');
  running.send(request(0x0b, id(1), 'endless'));
  await until(control, nyxdb.stats, 1);
  const second = await as('local-ana');
  const third = await as('local-ana');
  second.send(request(0x0b, id(2), 'endless'));
  await until(control, nyxdb.stats, 2);
  third.send(request(0x0b, id(3), 'quick'));
  await until(control, nyxdb.stats, 3);
  await control.ask(0x0a, id(1));
  t.same((await running.answer()).body, 'dev: cancelled');
  await control.ask(0x0a, id(2));
  t.same((await second.answer()).body, 'dev: cancelled');
  t.same((await third.answer()).body, 'one\n1\n');
});

t.test('cancel reaches an executing and a queued request, from another connection', async (t) => {
  const { nyxdb, as } = await engine(t, {
    endpoints,
    limits: { concurrent: 1, queued: 1, admissionMs: 600_000 },
  });
  const control = await as('local-ana');
  const executing = await as('local-ana');
  const queued = await as('local-ana');
  executing.send(request(0x0b, id(0xa0), 'endless'));
  await until(control, nyxdb.stats, 1);
  queued.send(request(0x0b, id(0xb0), 'quick'));
  await until(control, nyxdb.stats, 2);
  t.same(await control.ask(0x0a, id(0xb0)), ack('2\t1'));
  t.same((await queued.answer()).body, 'dev: cancelled');
  t.same(await control.ask(0x0a, id(0xa0)), ack('1\t1'));
  t.same(await executing.answer(), { id: 'a0'.repeat(16), status: 1, body: 'dev: cancelled' });
  t.same(await control.ask(0x0a, id(0xa0)), ack('0\t0'), 'stale');
  t.same(await executing.ask(0x0b, 'quick', id(0xa1)), quick, 'its connection goes on');
});

t.test('no target: missing, zero, or registered twice', async (t) => {
  const { nyxdb, as } = await engine(t, { endpoints });
  const control = await as('local-ana');
  t.same(await control.ask(0x0a, id(5)), ack('0\t0'));
  t.same(await control.ask(0x0a, Buffer.alloc(16)), ack('0\t0'));
  for (const length of [0, 15, 17])
    t.same(await control.ask(0x0a, Buffer.alloc(length, 5)), [1, 'invalid parameter']);
  const twins = [await as('local-ana'), await as('local-ana')];
  for (const twin of twins) twin.send(request(0x0b, id(5), 'endless'));
  await until(control, nyxdb.stats, 2);
  t.same(await control.ask(0x0a, id(5)), ack('0\t0'));
  t.equal(nyxdb.stats().executions, 2, 'neither of them was cancelled');
  await twins[0]?.close();
  await until(control, nyxdb.stats, 1);
  t.same(await control.ask(0x0a, id(5)), ack('2\t1'), 'the one that is left');
  t.same((await twins[1]?.answer())?.body, 'dev: cancelled');
});

t.test('requests of one connection run one after the other, a cancel too', async (t) => {
  const { nyxdb, as } = await engine(t, { endpoints });
  const control = await as('local-ana');
  const wire = await as('local-ana');
  wire.send(request(0x0b, id(1), 'endless'));
  wire.send(request(0x0a, id(2), id(1)));
  wire.send(request(0x0b, id(3), 'quick'));
  await until(control, nyxdb.stats, 1);
  t.same(await control.ask(0x0a, id(1)), ack('1\t1'));
  t.same(await wire.answer(), { id: '01'.repeat(16), status: 1, body: 'dev: cancelled' });
  t.same(await wire.answer(), {
    id: '02'.repeat(16),
    status: 0,
    body: 'query_id\tcancel_requested\n0\t0\n',
  });
  t.same(await wire.answer(), { id: '03'.repeat(16), status: 0, body: 'one\n1\n' });
});

t.test('a connection that goes takes its request along', async (t) => {
  const { nyxdb, as } = await engine(t, { endpoints, limits: { concurrent: 1, queued: 1 } });
  const control = await as('local-ana');
  const running = await as('local-ana');
  running.send(request(0x0b, id(1), 'endless'));
  await until(control, nyxdb.stats, 1);
  running.socket.terminate();
  await until(control, nyxdb.stats, 0);
  t.same(await control.ask(0x0b, 'quick'), quick);
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
  t.same([1, (await running.answer()).body], cancelled);
  t.same(await second.ask(0x0b, 'quick'), quick);
});
