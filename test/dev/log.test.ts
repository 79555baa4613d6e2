import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { fileURLToPath } from 'node:url';
import { type Exchange, startPlatform } from '@nn-runtime/dev';
import t, { type Test } from 'tap';
import { WebSocket, WebSocketServer } from 'ws';
import { application } from './fixtures/application.js';
import { browser } from './fixtures/browser.js';
import { run } from './fixtures/command.js';
import { ask, raw } from './fixtures/http.js';

const cli = fileURLToPath(new URL('./cli.js', import.meta.resolve('@nn-runtime/dev')));
const anyPorts = ['--port', '0', '--broker-port', '0', '--nyxdb-port', '0', '--iam-port', '0'];

const app = await application(t, (request, response) => {
  if (request.url?.startsWith('/teapot')) response.statusCode = 418;
  response.end('ok');
});

async function started(t: Test, env: NodeJS.ProcessEnv) {
  const dev = run(t, cli, [...anyPorts, '--app', app.url], env);
  const [, edge = ''] = await dev.until(/your application {2}(http:\S+)/);
  const [, broker = ''] = await dev.until(/broker {12}(http:\S+)/);
  return { dev, edge, broker };
}

t.test('each request is a line: time, part, method, status, path, who, how long', async (t) => {
  const { dev, edge, broker } = await started(t, { NO_COLOR: '1' });
  await ask(`${edge}/teapot?card=4111`);
  await dev.until(/^\d\d:\d\d:\d\d edge {3}GET {2}418 \/teapot {2}anonymous {2}\d+ ms$/m);
  const person = browser();
  await person.follow(`${edge}/.nnumbers/auth/login?login_hint=ana@example.org&return_to=/mine?secret=1`);
  await dev.until(/ edge {3}GET {2}302 \/\.nnumbers\/auth\/login {2}anonymous /);
  await dev.until(/ edge {3}GET {2}302 \/\.nnumbers\/auth\/callback {2}ana@example\.org /);
  await dev.until(/ edge {3}GET {2}200 \/mine {2}ana@example\.org {2}\d+ ms$/m);
  await person.visit(`${edge}/.nnumbers/auth/logout`, { method: 'POST' });
  await dev.until(
    / edge {3}POST 403 \/\.nnumbers\/auth\/logout {2}ana@example\.org {2}\d+ ms {2}ORIGIN_NOT_ALLOWED$/m,
  );
  const identity = String(app.last().headers['x-nnumbers-identity']);
  for (const sql of ['SELECT 4242', 'SELECT nowhere4242'])
    await ask(`${broker}/v1/querymesh/query`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-nnumbers-identity': identity },
      body: JSON.stringify({ sql }),
    });
  await dev.until(/ broker POST 200 \/v1\/querymesh\/query {2}ana@example\.org {2}\d+ ms$/m);
  await dev.until(
    / broker POST 422 \/v1\/querymesh\/query {2}ana@example\.org {2}\d+ ms {2}QUERYMESH_QUERY_FAILED$/m,
  );

  const printed = dev.stdout() + dev.stderr();
  const logged = printed.slice(printed.indexOf('/teapot'));
  t.notMatch(
    logged,
    /\?|secret|4111|4242|SELECT|eyJ|code=|state=|__nnumbers/,
    'no query, SQL, token or cookie',
  );
  for (const { value } of person.cookies('127.0.0.1')) t.notOk(value !== '' && logged.includes(value));
});

t.test('colours are for terminals, or asked for, and never against NO_COLOR', async (t) => {
  const cases: [NodeJS.ProcessEnv, boolean][] = [
    [{ FORCE_COLOR: undefined, NO_COLOR: undefined }, false],
    [{ FORCE_COLOR: undefined, NO_COLOR: '1' }, false],
    [{ FORCE_COLOR: '1', NO_COLOR: undefined }, true],
  ];
  for (const [env, coloured] of cases) {
    const { dev, edge } = await started(t, env);
    await ask(`${edge}/teapot`);
    await dev.until(/\/teapot.*\n/);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the escape of a terminal's colours.
    t.equal(/\u001b\[/.test(dev.stdout()), coloured, JSON.stringify(env));
    if (coloured) t.match(dev.stdout(), '\u001b[33m418\u001b[39m /teapot');
  }
});

t.test('a name or a path cannot command the terminal', async (t) => {
  const file = `${t.testdir()}/people.json`;
  writeFileSync(file, JSON.stringify([{ sub: 'p1', preferred_username: 'zoë\u001b[31m\nedge GET' }]));
  const dev = run(t, cli, [...anyPorts, '--app', app.url, '--people', file], { NO_COLOR: '1' });
  const [, edge = ''] = await dev.until(/your application {2}(http:\S+)/);
  const person = browser();
  await person.follow(`${edge}/.nnumbers/auth/login?login_hint=p1&return_to=/`);
  const cookie = person.cookieHeader(edge);
  await raw(
    Number(new URL(edge).port),
    `GET /${'x'.repeat(300)} HTTP/1.1\r\nHost: ${new URL(edge).host}\r\nCookie: ${cookie}\r\nConnection: close\r\n\r\n`,
  );
  await dev.until(/ edge {3}GET {2}200 \/x{199}… {2}zoë\\u\{1b\}\[31m\\u\{a\}edge\\u\{20\}GET {2}/);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: what must not be there.
  t.notMatch(dev.stdout(), /[\u001b\u009b]/);
});

t.test('a program is told what a line is made of', async (t) => {
  const exchanges: Exchange[] = [];
  const sockets = new WebSocketServer({ noServer: true });
  app.server.on('upgrade', (request, socket, head) => {
    if (request.url === '/no') socket.end('HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\n\r\n');
    else sockets.handleUpgrade(request, socket, head, (ws) => ws.send('hello'));
  });
  let seen = () => undefined as unknown;
  const platform = await startPlatform({
    apps: [{ id: 'shop', url: app.url }],
    people: [{ sub: 'p1', preferred_username: 'zoë\u001b[31m\n' }],
    now: () => Date.parse('2026-11-30T12:00:00Z'),
    onExchange: (exchange) => {
      exchanges.push(exchange);
      seen();
    },
  });
  t.teardown(() => platform.close());
  const { url } = platform.apps.shop;
  const next = async (wanted: string): Promise<Exchange> => {
    for (;;) {
      const exchange = exchanges.find(({ path }) => path === wanted);
      if (exchange !== undefined) return exchange;
      await new Promise((resolve) => {
        seen = () => resolve(undefined);
      });
    }
  };

  const { cookie } = await platform.signIn('p1');
  await ask(`${url}/plain?x=1`, { headers: { cookie } });
  t.strictSame(JSON.parse(JSON.stringify(await next('/plain'))), {
    part: 'edge',
    appId: 'shop',
    method: 'GET',
    path: '/plain',
    statusCode: 200,
    complete: true,
    person: { sub: 'p1', preferred_username: 'zoë\u001b[31m\n' },
    startedAt: '2026-11-30T12:00:00.000Z',
    durationMs: 0,
  });

  const ws = new WebSocket(`${url.replace('http', 'ws')}/live?token=1`, { headers: { cookie } });
  await once(ws, 'message');
  t.match(await next('/live'), { statusCode: 101, complete: true, person: { sub: 'p1' } });
  ws.terminate();
  const refused = new WebSocket(`${url.replace('http', 'ws')}/no`);
  refused.on('error', () => undefined);
  const [, response] = await once(refused, 'unexpected-response');
  response.resume();
  t.match(await next('/no'), { statusCode: 401, person: undefined });

  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  await once(socket, 'connect');
  socket.write(`POST /half HTTP/1.1\r\nHost: ${new URL(url).host}\r\nContent-Length: 10\r\n\r\nhalf`, () =>
    socket.resetAndDestroy(),
  );
  t.match(await next('/half'), { statusCode: undefined, complete: false });
  await ask(url, { path: `http://user:password@${new URL(url).host}/absolute?x` });
  t.match(await next('/absolute'), { method: 'GET' });
});
