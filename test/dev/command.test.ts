import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { freePort } from '../free-port.js';
import { browser } from './fixtures/browser.js';
import { run } from './fixtures/command.js';
import { ask } from './fixtures/http.js';

const cli = fileURLToPath(new URL('./cli.js', import.meta.resolve('@nn-runtime/dev')));
const anyPorts = ['--port', '0', '--broker-port', '0', '--nyxdb-port', '0', '--iam-port', '0'];

const freeAddress = async () => `http://127.0.0.1:${await freePort()}`;

/** An application for `node -e`: tells its environment on the way up, and answers with the identity header. */
const program = `
const names = Object.keys(process.env).filter((name) => name.startsWith('NNUMBERS_')).sort();
require('node:http').createServer((request, response) => {
  response.end(JSON.stringify({ url: request.url, identity: request.headers['x-nnumbers-identity'] ?? null }));
}).listen(Number(process.env.PORT), '127.0.0.1', () => {
  console.error('a line of standard error');
  console.log('listening on ' + process.env.PORT + ' with ' + names.join(' ') + ' as ' + process.pid);
});
`;

async function started(t: Test) {
  const port = await freePort();
  const dev = run(t, cli, [
    ...anyPorts,
    '--app',
    `http://127.0.0.1:${port}`,
    '--',
    process.execPath,
    '-e',
    program,
  ]);
  const [, listening, names, pid] = await dev.until(/^\[app\] listening on (\d+) with (.*) as (\d+)$/m);
  const [, edge = ''] = await dev.until(/your application {2}(http:\S+)/);
  return { dev, port, listening, names, pid: Number(pid), edge };
}

function alive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

t.test('nn-dev -- COMMAND runs it with PORT and the variables, behind the edge', async (t) => {
  const { dev, port, listening, names, edge } = await started(t);
  t.equal(listening, String(port));
  t.equal(
    names,
    'NNUMBERS_APP_ID NNUMBERS_BROKER_URL NNUMBERS_IDENTITY_ISSUER NNUMBERS_IDENTITY_JWKS NNUMBERS_ORG_ID',
  );
  t.match(dev.stdout(), /^nn-dev: a local nNumbers platform, not for production$/m);
  t.match(dev.stderr(), /^\[app\] a line of standard error$/m);
  const { answer } = await browser().follow(
    `${edge}/.nnumbers/auth/login?login_hint=ana@example.org&return_to=/me`,
  );
  const { url, identity } = JSON.parse(answer.text);
  t.equal(url, '/me');
  t.match(identity, /^eyJ/);
  t.equal(dev.stdout().includes(identity), false, 'no token is printed');
});

t.test('a signal ends the command and nn-dev, with the code a shell expects', async (t) => {
  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const) {
    const { dev, pid, edge } = await started(t);
    t.equal(alive(pid), true);
    dev.kill(signal);
    t.equal(await dev.ended, code, signal);
    t.equal(alive(pid), false);
    await t.rejects(ask(edge), { code: 'ECONNREFUSED' });
  }
});

t.test('nobody who stays connected keeps nn-dev', async (t) => {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    const { dev, edge, pid } = await started(t);
    const brokerUrl = /^ {2}broker +(\S+)$/m.exec(dev.stdout())?.[1] ?? '';
    for (const head of [
      '',
      'GET /me HTTP/1.1\r\nHost: 127.0',
      'POST /me HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n',
    ])
      for (const address of [edge, brokerUrl]) {
        const socket = connect(Number(new URL(address).port), '127.0.0.1');
        t.teardown(() => socket.destroy());
        socket.on('error', () => {});
        await once(socket, 'connect');
        socket.write(head);
      }
    const ended = dev.ended.then((code) => ({ code, afterMs: performance.now() - askedMs }));
    const askedMs = performance.now();
    dev.kill(signal);
    const { code, afterMs } = await ended;
    t.equal(code, { SIGINT: 130, SIGTERM: 143 }[signal]);
    t.ok(afterMs < 5_000, `after ${afterMs} ms`);
    t.equal(alive(pid), false);
  }
});

t.test('nn-dev ends with its command, and with its code', async (t) => {
  const node = (script: string) => [process.execPath, '-e', script];
  const cases: [string[], number][] = [
    [node('process.exit(0)'), 0],
    [node('process.exit(7)'), 7],
    [node('process.kill(process.pid, "SIGKILL")'), 137],
    [['/nowhere/command'], 127],
  ];
  for (const [command, code] of cases) {
    const dev = run(t, cli, [...anyPorts, '--app', await freeAddress(), '--', ...command]);
    t.equal(await dev.ended, code, command.join(' '));
    t.match(dev.stdout(), `nn-dev: the command ended with code ${code}, and nn-dev with it\n`);
  }
  const missing = run(t, cli, [...anyPorts, '--app', await freeAddress(), '--', '/nowhere/command']);
  await missing.ended;
  t.match(missing.stderr(), /^\[app\] cannot start \/nowhere\/command: /m);
});

t.test('what the command started ends too', async (t) => {
  // The inner process holds a connection to this server for as long as it lives.
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  const inner = `require('node:net').connect(${port}, '127.0.0.1')`;
  const script = `require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(inner)}], { stdio: 'ignore' })`;
  const connected = once(server, 'connection');
  const dev = run(t, cli, [...anyPorts, '--app', await freeAddress(), '--', process.execPath, '-e', script]);
  const [socket] = await connected;
  socket.on('error', () => undefined);
  const gone = once(socket, 'close');
  dev.kill('SIGINT');
  t.equal(await dev.ended, 130);
  await gone;
});

t.test('nothing listens but on the loopback address', async (t) => {
  const { edge } = await started(t);
  const { port } = new URL(edge);
  // Another address of this machine: a server on all of them would answer here too.
  const socket = connect(Number(port), '127.0.0.2');
  const [error] = await once(socket, 'error');
  t.equal(error.code, 'ECONNREFUSED');
});

t.test('an application that restarts is back behind the same session', async (t) => {
  // A supervisor, as `node --watch` is one: it starts its application again whenever that ends.
  const inner = `require('node:http').createServer((request, response) => {
    if (request.url === '/crash') process.exit(3);
    response.end(process.pid + ' ' + typeof request.headers['x-nnumbers-identity']);
  }).listen(Number(process.env.PORT), '127.0.0.1', () => console.log('up'))`;
  const supervisor = `const start = () => require('node:child_process')
    .spawn(process.execPath, ['-e', ${JSON.stringify(inner)}], { stdio: 'inherit' }).once('exit', start);
  start()`;
  const address = await freeAddress();
  const dev = run(t, cli, [...anyPorts, '--app', address, '--', process.execPath, '-e', supervisor]);
  const [, edge = ''] = await dev.until(/your application {2}(http:\S+)/);
  await dev.until(/^\[app\] up$/m);
  const person = browser();
  await person.follow(`${edge}/.nnumbers/auth/login?login_hint=ana@example.org&return_to=/`);
  const before = await person.visit(edge);
  t.match(before.text, /^\d+ string$/);
  const crashed = await person.visit(`${edge}/crash`);
  t.equal(crashed.status, 502);
  t.match(JSON.parse(crashed.text), {
    code: 'APPLICATION_UNAVAILABLE',
    message: `the application at ${address} did not answer`,
  });
  await dev.until(/^\[app\] up\n[\s\S]*^\[app\] up$/m);
  const after = await person.visit(edge);
  t.match(after.text, /^\d+ string$/, 'and Ana is still who asks');
  t.not(after.text, before.text, 'by another process');
});

t.test('nn-dev whose reader went away ends, and its command with it', async (t) => {
  const { dev, edge, pid } = await started(t);
  dev.stopReading();
  // Each exchange is a line: the next ones find nobody who reads.
  while (alive(dev.pid) && alive(pid)) await ask(edge).catch(() => undefined);
  t.equal(await dev.ended, 141);
  t.equal(alive(pid), false);
});
