import { readdirSync, readFileSync } from 'node:fs';
import t from 'tap';
import { engine, id, request } from './fixtures/wire.js';

/** The database processes of this one, from the kernel. */
function databases(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => {
      try {
        const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
        const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
        const command = readFileSync(`/proc/${name}/cmdline`, 'utf8');
        return parent === process.pid && command.includes('nyxdb-process');
      } catch {
        // It ended while it was looked at.
        return false;
      }
    })
    .map(Number);
}

t.test(
  'the database starts with the first statement, survives its own crash, and ends with the platform',
  async (t) => {
    const platform = await engine(t);
    const wire = await platform.as('local-ana');
    t.same(databases(), [], 'nothing runs for those who do not use it');
    const before = await wire.ask(0x0b, 'my_fills\0BTC-USD');
    t.equal(before[0], 0);
    const [pid, ...others] = databases();
    t.same(others, []);
    await platform.nyxdb.write('DELETE FROM fills');
    await platform.nyxdb.publish({
      name: 'endless',
      using: 'app_sessions',
      sql: 'SELECT count(*) FROM range(10000000) a, range(10000000) b',
    });
    wire.send(request(0x0b, id(7), 'endless'));
    const control = await platform.as('local-ana');
    while (platform.nyxdb.stats().executions === 0) await control.ask(0x0a, id(9));
    process.kill(pid ?? Number.NaN, 'SIGKILL');
    t.same(await wire.answer(), { id: '07'.repeat(16), status: 1, body: 'dev: query failed' });
    t.same(await wire.ask(0x0b, 'my_fills\0BTC-USD'), before, 'the tables are as they were at first');
    t.equal(databases().length, 1);
    await platform.close();
    t.same(databases(), []);
    t.ok(await wire.closed);
  },
);

t.test('tables at fault stop the start only when something is checked against them', async (t) => {
  const endpoints = [{ name: 'one', using: 'app_sessions', sql: 'SELECT 1' }];
  await t.rejects(engine(t, { tables: ['CREATE TABEL x'], endpoints }), /syntax error/);
  t.same(databases(), [], 'nothing is left running');
  const { as, nyxdb } = await engine(t, { tables: ['CREATE TABEL x'] });
  await t.rejects(nyxdb.write('SELECT 1'), /syntax error/);
  t.same(await (await as('local-ana')).ask(0x0b, 'one'), [1, 'dev: unknown endpoint']);
});
