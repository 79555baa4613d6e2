import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer as createTcpServer } from 'node:net';
import { startPlatform } from '@nn-runtime/dev';
import t from 'tap';
import { WebSocket, WebSocketServer } from 'ws';
import { application } from './fixtures/application.js';
import { ask, raw } from './fixtures/http.js';

const app = await application(t, (request, response, body) => {
  if (request.url === '/503') {
    response.writeHead(503, { 'retry-after': '7', 'content-type': 'text/plain' });
    response.end('busy');
  } else if (request.url === '/reset') request.socket.resetAndDestroy();
  else if (request.url === '/half') {
    response.writeHead(200, { 'content-length': '100' });
    response.write('half');
    setImmediate(() => request.socket.destroy());
  } else if (request.url === '/half-chunked') {
    response.write('half');
    setImmediate(() => request.socket.destroy());
  } else if (request.url === '/hash') response.end(createHash('sha256').update(body).digest('hex'));
  else response.end(`app ${request.method} ${body.length}`);
});
const platform = await startPlatform({ apps: [{ id: 'shop', url: app.url }, { id: 'nowhere' }] });
t.teardown(() => platform.close());
const edge = platform.apps.shop.url;
const port = Number(new URL(edge).port);

t.test('an upload that asks first (Expect: 100-continue) is told to go on', async (t) => {
  const socket = connect(port, '127.0.0.1');
  socket.setEncoding('latin1');
  socket.write(
    `POST /hash HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Length: 5\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n`,
  );
  const [first] = await once(socket, 'data');
  t.match(first, /^HTTP\/1\.1 100 Continue\r\n\r\n/);
  let rest = '';
  socket.on('data', (chunk: string) => {
    rest += chunk;
  });
  socket.write('hello');
  await once(socket, 'close');
  t.match(rest, /^HTTP\/1\.1 200 /);
  t.ok(rest.includes(createHash('sha256').update('hello').digest('hex')));
  t.equal(app.last().headers.expect, undefined);
});

t.test('three megabytes arrive whole, in every form a body comes in', async (t) => {
  const body = Buffer.alloc(3 * 1024 * 1024, 'nn-runtime ');
  const digest = createHash('sha256').update(body).digest('hex');
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'GET', 'PROPFIND', 'REPORT'])
    for (const framing of [{ 'content-length': body.length }, { 'transfer-encoding': 'chunked' }]) {
      const answer = await ask(`${edge}/hash`, { method, body, headers: framing });
      t.equal(answer.text, digest, `${method} ${Object.keys(framing)[0]}`);
      t.equal(app.last().method, method);
    }
});

t.test('no body stays no body', async (t) => {
  for (const method of ['GET', 'HEAD', 'DELETE', 'OPTIONS']) {
    await raw(port, `${method} /a HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: close\r\n\r\n`);
    t.equal(app.last().headers['transfer-encoding'], undefined, method);
    t.equal(app.last().headers['content-length'], undefined, method);
  }
  for (const method of ['POST', 'PUT', 'PATCH']) {
    await raw(port, `${method} /a HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: close\r\n\r\n`);
    t.equal(app.last().headers['transfer-encoding'], undefined, method);
    t.equal(app.last().headers['content-length'], '0', method);
  }
});

t.test('a content type nobody knows passes as it is', async (t) => {
  for (const type of ['application/x-nn; a="b"', 'weird', 'text/plain; charset=x', '*/*', '']) {
    const answer = await ask(edge, { method: 'POST', body: 'x', headers: { 'content-type': type } });
    t.equal(answer.text, 'app POST 1');
    t.equal(app.last().headers['content-type'], type);
  }
});

t.test('the application’s 503 is the answer, asked for once', async (t) => {
  const before = app.seen.length;
  const answer = await ask(`${edge}/503`);
  t.equal(answer.status, 503);
  t.equal(answer.text, 'busy');
  t.equal(answer.headers['retry-after'], '7');
  t.equal(app.seen.length, before + 1);
});

t.test('an application that resets is a 502 in the platform’s form, asked once', async (t) => {
  const before = app.seen.length;
  const answer = await ask(`${edge}/reset`);
  t.equal(answer.status, 502);
  t.same(JSON.parse(answer.text), {
    code: 'APPLICATION_UNAVAILABLE',
    message: `the application at ${app.url} did not answer`,
  });
  t.equal(answer.headers['cache-control'], 'no-store');
  t.equal(app.seen.length, before + 1);
});

t.test('an answer that breaks off is broken off, never made whole', async (t) => {
  await t.rejects(ask(`${edge}/half`));
  await t.rejects(ask(`${edge}/half-chunked`));
});

t.test('an application that is not there is a 502 that says where it was looked for', async (t) => {
  const server = createTcpServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port: free } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  const other = await startPlatform({ apps: [{ id: 'gone', url: `http://127.0.0.1:${free}` }] });
  t.teardown(() => other.close());
  const answer = await ask(other.apps.gone.url);
  t.equal(answer.status, 502);
  t.match(JSON.parse(answer.text).message, `http://127.0.0.1:${free}`);
  t.equal((await ask(`${other.apps.gone.url}/.nnumbers/v1/context`)).status, 203, 'the platform is there');
  t.match(JSON.parse((await ask(platform.apps.nowhere.url)).text).code, 'APPLICATION_UNAVAILABLE');
});

t.test('an answer outside HTTP is a 502, not a crash', async (t) => {
  const answers = [
    'HTTP/1.1 099 x\r\n\r\n',
    'nonsense\r\n\r\n',
    'HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n',
    '',
  ];
  for (const text of answers) {
    const server = createTcpServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () => socket.end(text));
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port: strange } = server.address() as AddressInfo;
    const other = await startPlatform({ apps: [{ id: 'strange', url: `http://127.0.0.1:${strange}` }] });
    t.teardown(() => {
      server.close();
      return other.close();
    });
    t.equal((await ask(other.apps.strange.url)).status, 502, JSON.stringify(text));
  }
});

t.test('a refusal reaches the browser although the upload was never read', async (t) => {
  const { createServer } = await import('node:http');
  const server = createServer((_request, response) => {
    response.writeHead(401);
    response.end('no');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port: deaf } = server.address() as AddressInfo;
  const other = await startPlatform({ apps: [{ id: 'deaf', url: `http://127.0.0.1:${deaf}` }] });
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
    return other.close();
  });
  for (let attempt = 0; attempt < 5; attempt += 1) {
    const answer = await ask(other.apps.deaf.url, { method: 'POST', body: Buffer.alloc(3 * 1024 * 1024) });
    t.equal(answer.status, 401);
    t.equal(answer.text, 'no');
  }
});

t.test('the browser’s connection is kept or closed as the browser asks', async (t) => {
  const kept = await raw(
    port,
    `GET /a HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\nGET /b HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: close\r\n\r\n`,
  );
  t.equal(kept.match(/HTTP\/1\.1 200 OK/g)?.length, 2);
  t.match(kept, /connection: keep-alive[\s\S]*connection: close/i);
  const old = await raw(port, `GET /a HTTP/1.0\r\nHost: 127.0.0.1:${port}\r\n\r\n`);
  t.match(old, /^HTTP\/1\.1 200 /);
});

t.test('WebSockets', async (t) => {
  const sockets = new WebSocketServer({ noServer: true });
  const identities: unknown[] = [];
  app.server.on('upgrade', (request, socket, head) => {
    if (request.url === '/refused') {
      socket.end('HTTP/1.1 401 Unauthorized\r\ncontent-length: 2\r\nx-why: because\r\n\r\nno');
      return;
    }
    if (request.url === '/refused-chunked') {
      socket.end('HTTP/1.1 403 Forbidden\r\ntransfer-encoding: chunked\r\n\r\n2\r\nno\r\n0\r\n\r\n');
      return;
    }
    if (request.url?.endsWith('cookies')) {
      const head = request.url === '/cookies' ? '101 Switching Protocols' : '401 Unauthorized';
      const kind =
        request.url === '/cookies' ? 'upgrade: websocket\r\nconnection: upgrade' : 'content-length: 0';
      socket.end(
        `HTTP/1.1 ${head}\r\n${kind}\r\nset-cookie: a=1\r\nset-cookie: __nnumbers_session_8080=x\r\n\r\n`,
      );
      return;
    }
    if (request.url?.endsWith('/echo?')) {
      socket.end(`HTTP/1.1 403 Forbidden\r\ncontent-length: ${request.url.length}\r\n\r\n${request.url}`);
      return;
    }
    if (request.url === '/dropped') {
      socket.destroy();
      return;
    }
    identities.push(request.headers['x-nnumbers-identity']);
    sockets.handleUpgrade(request, socket, head, (ws) => {
      ws.send(`${request.url} ${request.headers.cookie ?? ''}`);
      ws.on('message', (data, binary) => ws.send(data, { binary }));
      ws.on('close', (code) => sockets.emit('gone', code));
    });
  });
  const address = `ws://127.0.0.1:${port}`;

  t.test(
    'an upgrade is relayed both ways, with the identity and without the platform’s cookies',
    async (t) => {
      const { cookie } = await platform.signIn('ana@example.org');
      const ws = new WebSocket(`${address}/live?a=`, {
        headers: { cookie: `${cookie}; a=1`, 'x-nnumbers-identity': 'forged', x_nnumbers_identity: 'forged' },
      });
      const [greeting] = await once(ws, 'message');
      t.equal(String(greeting), '/live?a= a=1');
      t.match(identities.at(-1), /^eyJ[\w-]+\.[\w-]+\.[\w-]{86}$/);
      const payload = Buffer.alloc(100_000, 7);
      ws.send(payload);
      const [echo] = await once(ws, 'message');
      t.ok(payload.equals(echo));
      const gone = once(sockets, 'gone');
      ws.close(4001);
      t.same(await gone, [4001]);
    },
  );

  t.test('close() ends open WebSockets and idle connections', async (t) => {
    const other = await startPlatform({ apps: [{ id: 'shop', url: app.url }] });
    const ws = new WebSocket(`${other.apps.shop.url.replace('http', 'ws')}/live`);
    await once(ws, 'message');
    const idle = connect(Number(new URL(other.brokerUrl).port), '127.0.0.1');
    await once(idle, 'connect');
    const ended = Promise.all([once(ws, 'close'), once(idle.resume(), 'close')]);
    await other.close();
    await ended;
    await t.rejects(ask(other.brokerUrl), { code: 'ECONNREFUSED' });
  });

  t.test('an anonymous upgrade has no identity, whatever it says', async (t) => {
    const ws = new WebSocket(`${address}/live`, { headers: { 'X-NNumbers-Identity': 'forged' } });
    await once(ws, 'message');
    t.equal(identities.at(-1), undefined);
    ws.terminate();
  });

  t.test('a refused upgrade is the application’s own answer', async (t) => {
    for (const [path, status, body] of [
      ['/refused', 401, 'no'],
      ['/refused-chunked', 403, 'no'],
    ] as const) {
      const ws = new WebSocket(address + path);
      ws.on('error', () => undefined);
      const [, response] = await once(ws, 'unexpected-response');
      t.equal(response.statusCode, status);
      let text = '';
      for await (const chunk of response) text += chunk;
      t.equal(text, body);
    }
  });

  t.test('an upgrade, or its refusal, cannot set a cookie of the platform either', async (t) => {
    for (const [path, status] of [
      ['/cookies', '101'],
      ['/refused-cookies', '401'],
    ] as const) {
      const answer = await raw(
        port,
        `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`,
      );
      t.match(answer, new RegExp(`^HTTP/1\\.1 ${status} `));
      t.match(answer, /\r\nset-cookie: a=1\r\n/);
      t.notMatch(answer, /__nnumbers_/);
    }
  });

  t.test('an application that drops an upgrade is a 502', async (t) => {
    const ws = new WebSocket(`${address}/dropped`);
    ws.on('error', () => undefined);
    const [, response] = await once(ws, 'unexpected-response');
    t.equal(response.statusCode, 502);
    response.resume();
  });

  t.test('the target of an upgrade reaches the application byte for byte', async (t) => {
    const answer = await raw(
      port,
      `GET //a/../%2e/echo? HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`,
    );
    t.match(answer, /\r\n\r\n\/\/a\/\.\.\/%2e\/echo\?$/);
  });

  t.test('a browser that resets while it is being upgraded ends nobody else', async (t) => {
    const { cookie } = await platform.signIn('ana@example.org');
    for (const path of ['/live', '/.nnumbers/auth/login', '/dropped'])
      for (let attempt = 0; attempt < 20; attempt += 1) {
        const socket = connect(port, '127.0.0.1');
        await once(socket, 'connect');
        socket.write(
          `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nCookie: ${cookie}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`,
          () => socket.resetAndDestroy(),
        );
        await once(socket, 'close');
      }
    t.equal((await ask(edge)).status, 200);
    // The application is not left with connections whose browser is gone.
    while (sockets.clients.size > 0) await once(sockets, 'gone');
  });

  t.test('the reserved paths, other Hosts and other protocols are not upgraded', async (t) => {
    const before = app.seen.length;
    const upgrade = (path: string, host: string, protocol: string) =>
      raw(
        port,
        `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: ${protocol}\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`,
      );
    const own = `127.0.0.1:${port}`;
    t.match(await upgrade('/.nnumbers/auth/session', own, 'websocket'), /^HTTP\/1\.1 203 /);
    t.match(await upgrade('/.nnumbers/x', own, 'websocket'), /^HTTP\/1\.1 404 /);
    t.match(await upgrade('/live', 'evil.example', 'websocket'), /^HTTP\/1\.1 400 /);
    t.equal(app.seen.length, before);
    t.match(await upgrade('/plain', own, 'h2c'), /^HTTP\/1\.1 200 /, 'an upgrade may be ignored');
    t.equal(app.last().url, '/plain');
    t.equal(app.last().headers.upgrade, undefined);
  });
});
