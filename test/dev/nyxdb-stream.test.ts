import t, { type Test } from 'tap';
import fc from '../property.js';
import { engine, hex, id, request, type Wire } from './fixtures/wire.js';

const tables = [
  'CREATE TABLE items (id BIGINT, text VARCHAR)',
  "INSERT INTO items VALUES (1, 'a'), (2, 'b'), (3, NULL)",
];
const items = {
  name: 'items',
  using: 'app_sessions',
  stream: true,
  sql: 'SELECT id, text FROM items ORDER BY id',
};

async function subscribed(wire: Wire, payload = 'items', requestId = id(0x22)): Promise<Wire> {
  wire.send(request(0x0c, requestId, payload));
  return wire;
}

const streams = (t: Test, more: Parameters<typeof engine>[1] = {}) =>
  engine(t, { tables, endpoints: [items], ...more });

const shared = await streams(t, {
  endpoints: [items, { ...items, name: 'unordered', sql: 'SELECT id, text FROM items' }],
});

/** One engine for every test that is content with three rows. */
async function fresh(): Promise<typeof shared> {
  await shared.nyxdb.write("DELETE FROM items; INSERT INTO items VALUES (1, 'a'), (2, 'b'), (3, NULL)");
  return shared;
}

t.test('a snapshot, then positional deltas, as bytes', async (t) => {
  const { nyxdb, as } = await fresh();
  const wire = await subscribed(await as('local-ana'));
  const ID = '22'.repeat(16);
  t.same(
    await wire.next(),
    Buffer.concat([hex(`${ID} d0 00000013`), Buffer.from('id\ttext\n1\ta\n2\tb\n3\t\n')]),
  );
  await nyxdb.write("INSERT INTO items VALUES (0, 'first')");
  t.same(await wire.next(), Buffer.concat([hex(`${ID} d1 0000000c`), Buffer.from('+\t0\t0\tfirst\n')]));
  await nyxdb.write("UPDATE items SET text = 'c' WHERE id = 3");
  t.same(await wire.next(), Buffer.concat([hex(`${ID} d1 00000008`), Buffer.from('~\t3\t3\tc\n')]));
  await nyxdb.write('DELETE FROM items WHERE id = 1');
  t.same(await wire.next(), Buffer.concat([hex(`${ID} d1 00000004`), Buffer.from('-\t1\n')]));
  nyxdb.drain();
  t.same(await wire.next(), hex(`${ID} df 00000000`));
  t.equal(await wire.closed, 1000);
});

t.test('one write is one frame; its indexes count after the lines before', async (t) => {
  const { nyxdb, as } = await fresh();
  const wire = await subscribed(await as('local-ana'));
  await wire.next();
  await nyxdb.write(
    "DELETE FROM items WHERE id = 1; UPDATE items SET text = 'B' WHERE id = 2; INSERT INTO items VALUES (4, 'd'), (5, 'e')",
  );
  t.same((await wire.answer()).body, '~\t0\t2\tB\n-\t1\n+\t2\t4\td\n+\t3\t5\te\n');
});

t.test('a write that changes nothing for a subscriber sends nothing', async (t) => {
  const { nyxdb, as } = await fresh();
  const wire = await subscribed(await as('local-ana'));
  await wire.next();
  await nyxdb.write('UPDATE items SET text = text');
  await nyxdb.write("INSERT INTO items VALUES (4, 'd')");
  t.same((await wire.answer()).body, '+\t3\t4\td\n');
});

t.test('deltas always lead to what a new subscriber is told', async () => {
  const { nyxdb, as } = await fresh();
  const apply = (rows: string[], body: string): string[] => {
    const next = [...rows];
    for (const line of body.split('\n').slice(0, -1)) {
      const [op = '', index = '', ...cells] = line.split('\t');
      const at = Number(index);
      const end = op === '+' ? next.length + 1 : next.length;
      if (!(at < end)) throw new Error(`impossible: ${line} of ${next.length}`);
      if (op === '+') next.splice(at, 0, cells.join('\t'));
      else if (op === '-') next.splice(at, 1);
      else next[at] = cells.join('\t');
    }
    return next;
  };
  const row = fc.tuple(fc.integer({ min: 0, max: 9 }), fc.constantFrom('a', 'b', 'c'));
  await fc.assert(
    fc.asyncProperty(
      fc.array(row, { maxLength: 12 }),
      fc.array(row, { maxLength: 12 }),
      async (before, after) => {
        const fill = (rows: readonly [number, string][]) =>
          `DELETE FROM items; ${rows.length === 0 ? '' : `INSERT INTO items VALUES ${rows.map(([n, text]) => `(${n}, '${text}')`).join(', ')}`}`;
        await nyxdb.write(fill(before));
        const wire = await subscribed(await as('local-ana'), 'unordered');
        const [, ...snapshot] = (await wire.answer()).body.split('\n').slice(0, -1);
        await nyxdb.write(`${fill(after)}; INSERT INTO items VALUES (99, 'end')`);
        const rows = apply(snapshot, (await wire.answer()).body);
        await wire.close();
        return (
          JSON.stringify(rows) === JSON.stringify([...after, [99, 'end']].map((cells) => cells.join('\t')))
        );
      },
    ),
    { numRuns: 40 },
  );
});

t.test('a second subscriber starts from a snapshot of its own and gets the same changes', async (t) => {
  const { nyxdb, as } = await fresh();
  const first = await subscribed(await as('local-ana'));
  await first.next();
  await nyxdb.write("INSERT INTO items VALUES (4, 'd')");
  const second = await subscribed(await as('local-bruno'));
  t.same((await second.answer()).body, 'id\ttext\n1\ta\n2\tb\n3\t\n4\td\n');
  await nyxdb.write("INSERT INTO items VALUES (5, 'e')");
  t.same((await first.answer()).body, '+\t3\t4\td\n');
  t.same((await first.answer()).body, '+\t4\t5\te\n');
  t.same((await second.answer()).body, '+\t4\t5\te\n');
});

t.test('claims and parameters bind a stream as they bind a call', async (t) => {
  const { nyxdb, as } = await engine(t);
  const ana = await subscribed(await as('local-ana'), 'my_fills_live\0SOL-USD');
  const bruno = await subscribed(await as('local-bruno'), 'my_fills_live\0SOL-USD');
  t.match((await ana.answer()).body, /^fill_id\t.*\n8\t.*\n5\t.*\n2\t.*\n$/);
  t.match((await bruno.answer()).body, /^fill_id\t.*\n17\t.*\n14\t.*\n11\t.*\n$/);
  await nyxdb.write(
    "INSERT INTO fills (fill_id, user_id, instrument) VALUES (90, '9d40f2b8-bruno', 'SOL-USD')",
  );
  t.same((await bruno.answer()).body, '+\t0\t90\tSOL-USD\t\t\t\t\n');
  await nyxdb.write(
    "INSERT INTO fills (fill_id, user_id, instrument) VALUES (91, '5b1c7a0e-ana', 'SOL-USD')",
  );
  t.same((await ana.answer()).body, '+\t0\t91\tSOL-USD\t\t\t\t\n', "never the other person's");
  const wire = await as('local-ana');
  for (const payload of ['my_fills_live', 'my_fills_live\0SOL-USD\0x', 'my_fills\0SOL-USD'])
    t.same(await wire.ask(0x0c, payload), [1, 'invalid parameter'], payload);
  t.same(
    await wire.ask(0x0b, 'my_fills_live\0SOL-USD'),
    [1, 'invalid parameter'],
    'a stream is not executed',
  );
  t.same(await wire.ask(0x0c, 'nothing'), [1, 'dev: unknown endpoint']);
  t.same((await wire.ask(0x0c, 'my_fills_live\0SOL-USD'))[0], 0xd0, 'the connection was still good');
});

t.test('the example moves: fills come, change and go', async (t) => {
  const { nyxdb, as } = await engine(t);
  const wire = await subscribed(await as('local-ana'), 'my_fills_live\0BTC-USD');
  await wire.next();
  const seen = new Set<string>();
  for (let step = 0; step < 8; step++) await nyxdb.tick();
  nyxdb.drain();
  for (let answer = await wire.answer(); answer.status === 0xd1; answer = await wire.answer())
    for (const line of answer.body.split('\n').slice(0, -1)) seen.add(line.slice(0, 1));
  t.same([...seen].sort(), ['+', '-', '~']);
});

t.test('a tick of its own keeps the example moving while somebody looks', async (t) => {
  const { as } = await engine(t, { tickMs: 1 });
  const wire = await subscribed(await as('local-ana'), 'my_fills_live\0BTC-USD');
  t.equal((await wire.answer()).status, 0xd0);
  t.equal((await wire.answer()).status, 0xd1);
});

t.test('replace and drop leave an established subscription as it was', async (t) => {
  const { nyxdb, as } = await streams(t);
  const wire = await subscribed(await as('local-ana'));
  await wire.next();
  await nyxdb.publish({ ...items, sql: 'SELECT id FROM items WHERE id > 100' });
  await nyxdb.write("INSERT INTO items VALUES (4, 'd')");
  t.same((await wire.answer()).body, '+\t3\t4\td\n');
  t.same(await (await as('local-ana')).ask(0x0c, 'items'), [0xd0, 'id\n'], 'the new definition');
  nyxdb.drop('items');
  await nyxdb.write("INSERT INTO items VALUES (5, 'e')");
  t.same((await wire.answer()).body, '+\t4\t5\te\n');
  t.same(await (await as('local-ana')).ask(0x0c, 'items'), [1, 'dev: unknown endpoint']);
});

t.test('changed claims do not rebind a subscription', async (t) => {
  const { nyxdb, as } = await streams(t, {
    endpoints: [
      { ...items, claims: ['role'], sql: 'SELECT id, $role AS role FROM items ORDER BY id LIMIT 1' },
    ],
    sessions: [{ token: 'one', claims: { user_id: 'u', tenant: 't', role: 'old' } }],
  });
  const wire = await subscribed(await as('one'));
  t.same((await wire.answer()).body, 'id\trole\n1\told\n');
  nyxdb.updateSession({ token: 'one', claims: { user_id: 'u', tenant: 't', role: 'new' } });
  await nyxdb.write('INSERT INTO items VALUES (0, NULL)');
  t.same((await wire.answer()).body, '~\t0\t0\told\n');
});

t.test('the quota of subscriptions is given back on close and on revocation', async (t) => {
  const { nyxdb, as } = await streams(t, {
    limits: { subscriptionsPerUser: 1 },
    sessions: ['one', 'two'].map((token) => ({
      token,
      claims: { user_id: 'u', tenant: 't', role: 'member' },
    })),
  });
  const first = await subscribed(await as('one'));
  await first.next();
  const second = await as('two');
  t.same(await second.ask(0x0c, 'items'), [1, 'dev: quota exceeded'], 'the quota is of the user');
  t.equal((await (await as('local-ana')).ask(0x0c, 'items'))[0], 0xd0, 'of one user');
  await first.close();
  while (nyxdb.stats().subscriptions > 1) await second.ask(0x0a, id(1));
  const third = await subscribed(await as('one'));
  t.equal((await third.answer()).status, 0xd0);
  nyxdb.removeSession('one');
  t.same(await third.answer(), { id: '00'.repeat(16), status: 1, body: 'auth revoked' });
  t.same((await second.ask(0x0c, 'items'))[0], 0xd0);
  t.equal(nyxdb.stats().subscriptions, 2);
});

t.test('a failed subscription takes no quota', async (t) => {
  const { nyxdb, as } = await streams(t, {
    limits: { subscriptionsPerUser: 1 },
    endpoints: [items, { ...items, name: 'tab', sql: "SELECT 'a\tb' AS x" }],
  });
  const wire = await as('local-ana');
  t.same(await wire.ask(0x0c, 'tab'), [1, 'dev: cell not representable']);
  t.equal(nyxdb.stats().subscriptions, 0);
  t.equal((await wire.ask(0x0c, 'items'))[0], 0xd0);
});

t.test('a view streams with the grant to subscribe, and not with the one to read', async (t) => {
  const { nyxdb, as } = await streams(t);
  const id = '00000000-0000-4000-8000-00000000000a';
  const view = { name: 'seen', id, sql: 'SELECT count(*) AS n FROM items' };
  await nyxdb.createView({ ...view, grants: { member: ['read'] } });
  const wire = await as('local-ana');
  t.same(await wire.ask(0x0b, 'seen'), [0, 'n\n3\n']);
  t.same(await wire.ask(0x0c, 'seen'), [1, 'dev: not granted']);
  await nyxdb.createView({ ...view, grants: { member: ['subscribe'] } });
  t.same(await wire.ask(0x0b, 'seen'), [1, 'dev: not granted']);
  t.same(await wire.ask(0x0c, id), [0xd0, 'n\n3\n']);
  await nyxdb.write('DELETE FROM items');
  t.same((await wire.answer()).body, '~\t0\t0\n');
});

t.test('the connection of a subscription is dedicated to it, and cancel does not reach it', async (t) => {
  const { nyxdb, as } = await fresh();
  const wire = await subscribed(await as('local-ana'));
  await wire.next();
  t.same(await wire.ask(0x0b, 'items'), [1, 'dev: connection is subscribed']);
  t.same(await wire.ask(0x0c, 'items'), [1, 'dev: connection is subscribed']);
  const control = await as('local-ana');
  t.same(await control.ask(0x0a, id(0x22)), [0, 'query_id\tcancel_requested\n0\t0\n']);
  await nyxdb.write("INSERT INTO items VALUES (4, 'd')");
  t.same((await wire.answer()).body, '+\t3\t4\td\n');
});

t.test('a stream whose result can no longer be sent ends with an error', async (t) => {
  const { nyxdb, as } = await streams(t, { limits: { maxRows: 5 } });
  const tab = await subscribed(await as('local-ana'));
  await tab.next();
  await nyxdb.write("UPDATE items SET text = 'a\tb' WHERE id = 1");
  t.same(await tab.answer(), { id: '22'.repeat(16), status: 1, body: 'dev: cell not representable' });
  await tab.closed;
  await nyxdb.write("UPDATE items SET text = 'a' WHERE id = 1");
  const many = await subscribed(await as('local-ana'));
  await many.next();
  await nyxdb.write('INSERT INTO items SELECT x, NULL FROM range(10, 20) r(x)');
  t.same((await many.answer()).body, 'dev: result too large');
  await nyxdb.write('DELETE FROM items');
  const gone = await subscribed(await as('local-ana'));
  await gone.next();
  await nyxdb.write('DROP TABLE items');
  t.same((await gone.answer()).body, 'dev: query failed');
  t.equal(nyxdb.stats().subscriptions, 0);
});

t.test('columns that change come as a new snapshot', async (t) => {
  const { nyxdb, as } = await streams(t, {
    endpoints: [{ ...items, sql: 'SELECT * FROM items ORDER BY id LIMIT 1' }],
  });
  const wire = await subscribed(await as('local-ana'));
  t.same((await wire.answer()).body, 'id\ttext\n1\ta\n');
  await nyxdb.write('ALTER TABLE items ADD COLUMN extra BIGINT DEFAULT 7');
  t.same(await wire.answer(), { id: '22'.repeat(16), status: 0xd0, body: 'id\ttext\textra\n1\ta\t7\n' });
});

/** A call that keeps its place until it is cancelled. */
const endless = {
  name: 'endless',
  using: 'app_sessions',
  sql: 'SELECT count(*) FROM range(10000000) a, range(10000000) b',
};

t.test('a first snapshot waits for admission as a call does', async (t) => {
  const { nyxdb, as } = await streams(t, {
    endpoints: [items, endless],
    limits: { concurrent: 1, queued: 0 },
  });
  const control = await as('local-ana');
  const running = await as('local-ana');
  running.send(request(0x0b, id(1), 'endless'));
  while (nyxdb.stats().executions === 0) await control.ask(0x0a, id(9));
  t.same(await control.ask(0x0c, 'items'), [1, 'server busy: query admission rejected']);
  await control.ask(0x0a, id(1));
  await running.next();
  t.equal((await control.ask(0x0c, 'items'))[0], 0xd0);
});

t.test('a drain is a boundary also for a subscription that waits for its first snapshot', async (t) => {
  const { nyxdb, as } = await streams(t, {
    endpoints: [items, endless],
    limits: { concurrent: 1, queued: 1, admissionMs: 3_600_000 },
  });
  const control = await as('local-ana');
  const running = await as('local-ana');
  running.send(request(0x0b, id(1), 'endless'));
  while (nyxdb.stats().executions === 0) await control.ask(0x0a, id(9));
  const wire = await subscribed(await as('local-ana'));
  while (nyxdb.stats().subscriptions === 0) await control.ask(0x0a, id(9));
  await nyxdb.publish({ ...items, sql: 'SELECT id FROM items WHERE id = 2' });
  nyxdb.drain();
  await control.ask(0x0a, id(1));
  t.same(
    await wire.answer(),
    { id: '22'.repeat(16), status: 0xdf, body: '' },
    'nothing of the old definition',
  );
  t.equal(await wire.closed, 1000);
  t.same(await control.ask(0x0c, 'items'), [0xd0, 'id\n2\n'], 'the reviewed definition');
  t.equal(nyxdb.stats().subscriptions, 1, 'the quota of the other was given back');
});
