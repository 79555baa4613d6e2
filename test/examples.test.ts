import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';
import { run } from './dev/fixtures/command.js';
import { freePorts } from './free-port.js';

const start = join(import.meta.dirname, '../examples/start/dist/start.js');
const edges = { fastify: 'http://127.0.0.1:8080', express: 'http://127.0.0.1:8081' };
const itself = { fastify: 'http://127.0.0.1:3000', express: 'http://127.0.0.1:3001' };

/** A folder for the cookie jars that curl writes. */
const folder = mkdtempSync(join(tmpdir(), 'nn-runtime-'));
t.teardown(() => rmSync(folder, { recursive: true }));

/** Runs a line as somebody types it, in a shell. */
async function shell(line: string): Promise<string> {
  return (await promisify(execFile)('sh', ['-c', line], { cwd: folder })).stdout;
}

/** Status, header lines and body of what `curl -si` prints. */
function parse(answer: string): { status: number; head: string; body: string } {
  const [head = '', body = ''] = answer.split('\r\n\r\n', 2);
  return { status: Number(head.split(' ')[1]), head: head.toLowerCase(), body };
}

t.test('the start command, with its own ports, and the lines it says to copy', async (t) => {
  const running = run(t, start, []);
  await running.until(/Ctrl-C ends everything\.\n/);
  const [block = ''] = /^ready[\s\S]*/m.exec(running.stdout()) ?? [];
  for (const address of [
    'http://127.0.0.1:8080',
    'http://127.0.0.1:8081',
    'http://127.0.0.1:8090',
    'ws://127.0.0.1:8091',
    'http://127.0.0.1:8092',
    'port 3000',
    'port 3001',
  ])
    t.match(block, address);
  const curls = block.match(/^ +curl .*$/gm) ?? [];
  t.equal(curls.length, 3);

  t.test('the three lines work as printed', async (t) => {
    const [me = '', signIn = '', nations = ''] = curls;
    t.equal(await shell(me), '{"kind":"anonymous"}');
    t.match(JSON.parse(await shell(signIn)), { kind: 'person', name: 'Ana Souza', email: 'ana@example.org' });
    t.equal(JSON.parse(await shell(nations)).rows.length, 25);
  });

  t.test('the script of the NYXDB engine works as printed', async (t) => {
    const [line = ''] = /NYXDB_URL=.*$/m.exec(block) ?? [];
    t.match(line, /^NYXDB_URL=ws:\/\/127\.0\.0\.1:8091 node examples\/fills\/dist\/fills\.js BTC-USD$/);
    const { stdout } = await promisify(execFile)('sh', ['-c', line], {
      cwd: join(import.meta.dirname, '..'),
    });
    t.match(stdout, /^fill_id +instrument +side +quantity +price +executed_at$/m);
    t.match(stdout, /^3 +BTC-USD +sell +4\.7500 +64011\.00 +2026-11-30 09:03:00\.000000$/m);
  });

  for (const name of ['fastify', 'express'] as const) {
    const edge = edges[name];
    t.test(`${name}: who signed in, and their query`, async (t) => {
      const jar = `jar-${name}`;
      t.equal(await shell(`curl -s ${edge}/api/me`), '{"kind":"anonymous"}');
      const person = await shell(
        `curl -sL -c ${jar} -b ${jar} '${edge}/.nnumbers/auth/login?return_to=/api/me&login_hint=ana@example.org'`,
      );
      t.match(JSON.parse(person), { kind: 'person', name: 'Ana Souza', email: 'ana@example.org' });
      const { columns, rows } = JSON.parse(await shell(`curl -s -b ${jar} ${edge}/api/nations`));
      t.same(columns, [
        { name: 'name', type: 'varchar' },
        { name: 'regionkey', type: 'bigint' },
      ]);
      t.equal(rows.length, 25);
      t.equal(
        rows.some(([nation, region]: unknown[]) => nation === 'BRAZIL' && region === 1),
        true,
      );
    });

    t.test(`${name}: the page at /, and its script`, async (t) => {
      const page = await shell(`curl -s ${edge}/`);
      t.match(page, '<html lang="en" data-session="anonymous">');
      const [, script] = /src="(\/assets\/page-[^"]+\.js)"/.exec(page) ?? [];
      t.equal(parse(await shell(`curl -si ${edge}${script}`)).status, 200);
    });

    t.test(`${name}: what is refused`, async (t) => {
      const forged = parse(await shell(`curl -si -H 'X-NNumbers-Identity: x.y.z' ${itself[name]}/api/me`));
      t.equal(forged.status, 401);
      t.equal(JSON.parse(forged.body).code, 'IDENTITY_ASSERTION_INVALID');
      t.equal(forged.body.includes('kind'), false, 'the handler never ran');
      const empty = parse(await shell(`curl -si -H 'X-NNumbers-Identity;' ${itself[name]}/api/me`));
      t.equal(empty.status, 401);
      t.equal(JSON.parse(empty.body).code, 'IDENTITY_ASSERTION_INVALID');
      const anonymous = parse(await shell(`curl -si ${edge}/api/nations`));
      t.equal(anonymous.status, 401);
      t.equal(JSON.parse(anonymous.body).code, 'USER_SESSION_REQUIRED');
      const guarded = parse(await shell(`curl -si ${edge}/api/private`));
      t.equal(guarded.status, 401);
      const page = parse(
        await shell(
          `curl -si -H 'Accept: text/html' -H 'Sec-Fetch-Mode: navigate' '${edge}/api/private?a=1'`,
        ),
      );
      t.equal(page.status, 302);
      t.match(page.head, /location: \/\.nnumbers\/auth\/login\?return_to=%2fapi%2fprivate%3fa%3d1/);
    });
  }

  t.test('Ctrl-C ends everything within 5 s, whoever stays connected', async (t) => {
    for (const address of [...Object.values(edges), ...Object.values(itself)]) {
      const silent = connect(Number(new URL(address).port), '127.0.0.1');
      t.teardown(() => silent.destroy());
      silent.on('error', () => {});
      await once(silent, 'connect');
    }
    const askedMs = performance.now();
    running.kill('SIGINT');
    t.equal(await running.ended, 130);
    const afterMs = performance.now() - askedMs;
    t.ok(afterMs < 5_000, `after ${afterMs} ms`);
    for (const address of [...Object.values(edges), ...Object.values(itself)])
      await t.rejects(shell(`curl -s ${address}/`), { code: 7 }, `${address} refuses connections`);
  });
});

const options = [
  'fastify-port',
  'express-port',
  'broker-port',
  'nyxdb-port',
  'iam-port',
  'fastify-app-port',
  'express-app-port',
];

t.test('an application that dies ends the rest, and says so', async (t) => {
  // Loaded into the Express application alone: it dies with code 9 once the test closes this connection.
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  const trap = `import { connect } from 'node:net';
    if (process.env.NNUMBERS_APP_ID === 'express-app')
      connect(${port}, '127.0.0.1').on('close', () => process.exit(9)).resume();`;
  const connected = once(server, 'connection');
  const ports = await freePorts(options.length);
  const args = options.flatMap((option, index) => [`--${option}`, String(ports[index])]);
  const running = run(t, start, args, {
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(trap)}`,
  });
  await running.until(/Ctrl-C ends everything/);
  const [socket] = await connected;
  socket.end();
  t.equal(await running.ended, 9);
  t.match(running.stderr(), 'start: express-app ended with code 9, so everything ends');
  for (const listening of ports)
    await t.rejects(shell(`curl -s http://127.0.0.1:${listening}/`), { code: 7 }, 'nothing is left');
});

t.test('a busy port is named with the option that changes it', async (t) => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const busy = String((server.address() as AddressInfo).port);
  for (const option of options) {
    const ports = await freePorts(options.length);
    const args = options.flatMap((name, index) => [
      `--${name}`,
      name === option ? busy : String(ports[index]),
    ]);
    const running = run(t, start, args);
    t.equal(await running.ended, 1, option);
    t.equal(running.stderr(), `start: port ${busy} is in use: choose another with --${option}\n`);
    t.equal(running.stdout().includes('ready'), false);
  }
});

t.test('one port for two parts is named with both options', async (t) => {
  const cases: [string[], string][] = [
    [['--fastify-port', '3001'], '--fastify-port and --express-app-port are both 3001'],
    [['--iam-port', '8090'], '--broker-port and --iam-port are both 8090'],
  ];
  for (const [args, message] of cases) {
    const running = run(t, start, args);
    t.equal(await running.ended, 1);
    t.equal(running.stderr(), `start: ${message}\n`);
  }
});

t.test('--help names each port and its default', async (t) => {
  const running = run(t, start, ['--help']);
  t.equal(await running.ended, 0);
  for (const line of [
    /--fastify-port N .*default 8080\)/,
    /--express-port N .*default 8081\)/,
    /--broker-port N .*default 8090\)/,
    /--nyxdb-port N .*default 8091\)/,
    /--iam-port N .*default 8092\)/,
    /--fastify-app-port N .*default 3000\)/,
    /--express-app-port N .*default 3001\)/,
  ])
    t.match(running.stdout(), line);
  const wrong = run(t, start, ['--port', '1']);
  t.equal(await wrong.ended, 1);
  t.match(wrong.stderr(), /--port/);
});
