// The engine is internal to @nn-runtime/dev: its door is the broker. See engine-types.test.ts.
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import t from 'tap';
import { createSqlEngine, type SqlEngineOptions } from '../../packages/dev/dist/engine.js';

/** Longer than anybody's patience: 10^14 rows to count. */
const endless = 'SELECT count(*) FROM range(10000000) a, range(10000000) b';
const quick = 'SELECT 1';
const one = { columns: [{ name: '_col0', type: 'integer' }], rowsJson: '[[1]]', rowCount: 1 };

/** The engine processes of this one, from the kernel: id and command line. */
function engineProcesses(parent = process.pid): { pid: number; command: string }[] {
  const found: { pid: number; command: string }[] = [];
  for (const name of readdirSync('/proc').filter((each) => /^\d+$/.test(each))) {
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      const command = readFileSync(`/proc/${name}/cmdline`, 'utf8');
      const parentPid = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
      if (parentPid === parent && command.includes('engine-process'))
        found.push({ pid: Number(name), command });
    } catch {
      // It ended while it was looked at.
    }
  }
  return found;
}

async function started(t: { teardown(end: () => Promise<void>): void }, options?: SqlEngineOptions) {
  const engine = await createSqlEngine(options);
  t.teardown(() => engine.close());
  return engine;
}

t.test('a result of exactly maxRows rows is whole; one more row is ROW_CAP', async (t) => {
  const engine = await started(t);
  const exact = await engine.query('SELECT x FROM range(5000) r(x)', { maxRows: 5_000 });
  t.equal(exact.rowCount, 5_000);
  const cells: unknown[][] = JSON.parse(exact.rowsJson);
  t.same(cells.at(-1), [4_999]);
  await t.rejects(engine.query('SELECT x FROM range(5001) r(x)', { maxRows: 5_000 }), {
    code: 'ROW_CAP',
    message: 'The result has more than 5000 rows.',
  });
  await t.rejects(engine.query('SELECT * FROM range(1000000000000)', { maxRows: 1 }), { code: 'ROW_CAP' });
});

t.test('a statement that takes too long ends in TIMEOUT, and its place is free', async (t) => {
  const engine = await started(t, { maxConcurrent: 1, timeoutMs: 100 });
  await t.rejects(engine.query(endless, { maxRows: 1 }), { code: 'TIMEOUT' });
  t.same(await engine.query(quick, { maxRows: 1, timeoutMs: 60_000 }), one);
});

t.test('an abort answers at once and frees the place', async (t) => {
  const engine = await started(t, { maxConcurrent: 1 });
  const controller = new AbortController();
  const running = engine.query(endless, { maxRows: 1, signal: controller.signal });
  const waiting = engine.query(quick, { maxRows: 1 });
  controller.abort();
  await t.rejects(running, { code: 'ABORTED' });
  t.same(await waiting, one);
  await t.rejects(engine.query(quick, { maxRows: 1, signal: controller.signal }), { code: 'ABORTED' });
});

t.test('a statement that is aborted while it waits never runs', async (t) => {
  const engine = await started(t, { maxConcurrent: 1, maxQueued: 1 });
  const first = new AbortController();
  const second = new AbortController();
  const running = engine.query(endless, { maxRows: 1, signal: first.signal });
  const waiting = engine.query(endless, { maxRows: 1, signal: second.signal });
  second.abort();
  await t.rejects(waiting, { code: 'ABORTED' });
  const next = engine.query(quick, { maxRows: 1 });
  first.abort();
  await t.rejects(running, { code: 'ABORTED' });
  t.same(await next, one, 'its place in the queue was free as well');
});

t.test('one statement more than may wait is BUSY, and so is one that waited too long', async (t) => {
  const engine = await started(t, { maxConcurrent: 1, maxQueued: 1 });
  const controller = new AbortController();
  const running = engine.query(endless, { maxRows: 1, signal: controller.signal });
  const waiting = engine.query(quick, { maxRows: 1, timeoutMs: 50 });
  await t.rejects(engine.query(quick, { maxRows: 1 }), { code: 'BUSY' });
  await t.rejects(waiting, { code: 'BUSY' });
  controller.abort();
  await t.rejects(running, { code: 'ABORTED' });
});

t.test('four endless statements block neither this process nor a fifth one', async (t) => {
  const engine = await started(t, { maxConcurrent: 5 });
  const controller = new AbortController();
  const options = { maxRows: 1, signal: controller.signal };
  const endlessOnes = [1, 2, 3, 4].map(() => engine.query(endless, options));
  t.same(await engine.query(quick, { maxRows: 1 }), one);
  // The thread pool of this process is free: a file can be read.
  const { readFile } = await import('node:fs/promises');
  t.ok(await readFile('/proc/self/stat', 'utf8'));
  controller.abort();
  for (const each of await Promise.allSettled(endlessOnes)) t.match(each, { reason: { code: 'ABORTED' } });
});

t.test(
  'when its process is killed, what ran there is CRASHED, what waited runs, and the next one too',
  async (t) => {
    const engine = await started(t, { maxConcurrent: 1 });
    const [before] = engineProcesses();
    if (before === undefined) throw new Error('no engine process');
    const running = engine.query(endless, { maxRows: 1 });
    const waiting = engine.query(quick, { maxRows: 1 });
    process.kill(before.pid, 'SIGKILL');
    await t.rejects(running, { code: 'CRASHED' });
    t.same(await waiting, one);
    const [after] = engineProcesses();
    t.not(after?.pid, before.pid);
    t.equal(
      (await engine.query('SELECT count(*) FROM tpch.tiny.lineitem', { maxRows: 1 })).rowsJson,
      '[[60175]]',
    );
  },
);

t.test('a statement that does not let go takes the process with it', async (t) => {
  // DuckDB looks at no interrupt while it sleeps.
  const engine = await started(t, { maxConcurrent: 1, graceMs: 50 });
  await t.rejects(engine.query('SELECT sleep_ms(600000)', { maxRows: 1, timeoutMs: 100 }), {
    code: 'TIMEOUT',
  });
  t.same(await engine.query(quick, { maxRows: 1 }), one);
});

t.test('close ends what runs and what waits with CLOSED, and leaves no process', async (t) => {
  const engine = await createSqlEngine({ maxConcurrent: 1 });
  t.equal(engineProcesses().length, 1);
  const running = engine.query(endless, { maxRows: 1 });
  const waiting = engine.query(quick, { maxRows: 1 });
  const closed = engine.close();
  await t.rejects(running, { code: 'CLOSED' });
  await t.rejects(waiting, { code: 'CLOSED' });
  await closed;
  t.same(engineProcesses(), []);
  await t.rejects(engine.query(quick, { maxRows: 1 }), { code: 'CLOSED' });
  await engine.close();
});

const engineUrl = new URL('../../packages/dev/dist/engine.js', import.meta.url).href;
const script = (body: string) => [
  '--input-type=module',
  '-e',
  `import { createSqlEngine } from '${engineUrl}';\n${body}`,
];

t.test(
  'nothing of a statement is printed, and none of it is on a command line or in the environment',
  async (t) => {
    const { stdout, stderr } = await promisify(execFile)(
      process.execPath,
      script(`
      import { readFileSync } from 'node:fs';
      const engine = await createSqlEngine();
      const ask = (sql) => engine.query(sql, { maxRows: 10 }).catch(() => {});
      await ask("SELECT 'canary-4711'");
      await ask("SELECT canary4711 FROM tpch.tiny.nation");
      await ask("PRAGMA enable_profiling; SELECT 'canary-4711'");
      await ask("SELECT * FROM enable_profiling() WHERE 'canary-4711' = ''");
      await ask("SELECT 'canary-4711'");
      const running = ask("SELECT 'canary-4711', count(*) FROM range(10000000) a, range(10000000) b");
      await ask("SELECT 'canary-4711'");
      const children = readFileSync('/proc/self/task/' + process.pid + '/children', 'utf8').trim().split(' ');
      for (const pid of children) {
        for (const file of ['cmdline', 'environ', 'comm']) {
          const text = readFileSync('/proc/' + pid + '/' + file, 'utf8');
          if (text.includes('canary') || text.includes('hidden-from-the-engine')) console.log('found in', file);
        }
      }
      console.log(children.length, 'process looked at');
      await engine.close();
      await running;
    `),
      { env: { ...process.env, A_SECRET: 'hidden-from-the-engine' } },
    );
    t.equal(stdout, '1 process looked at\n');
    t.equal(stderr, '');
  },
);

t.test('the process ends with its parent, also when that is killed', async (t) => {
  const parent = execFile(
    process.execPath,
    script(`
      const engine = await createSqlEngine();
      engine.query('${endless}', { maxRows: 1 });
      await engine.query('SELECT 1', { maxRows: 1 });
      console.log('running');
    `),
  );
  await new Promise((resolve) => parent.stdout?.once('data', resolve));
  const [child] = engineProcesses(parent.pid);
  if (child === undefined) throw new Error('no engine process');
  const gone = new Promise((resolve) => parent.once('exit', resolve));
  parent.kill('SIGKILL');
  await gone;
  const alive = () => {
    try {
      return !/\) Z /.test(readFileSync(`/proc/${child.pid}/stat`, 'utf8'));
    } catch {
      return false;
    }
  };
  while (alive()) await new Promise((resolve) => setImmediate(resolve));
  t.notOk(alive());
});
