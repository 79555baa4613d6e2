import { once } from 'node:events';
import t from 'tap';
import { WebSocket, WebSocketServer } from 'ws';
import { connection, edgeOf } from './fixtures/edge.js';
import { ask, raw } from './fixtures/http.js';

/** Clients that are slow, broken or many, and what they are to everybody else. */

t.test('a client that sends its request a byte at a time is served, and holds up nobody', async (t) => {
  const { url, port } = await edgeOf(t, (request, response) => {
    request.resume().once('end', () => response.end(`app ${request.url}`));
  });
  const slow = await connection(port);
  const text = `POST /slow HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Length: 3\r\nConnection: close\r\n\r\nabc`;
  for (const [index, byte] of [...text].entries()) {
    await new Promise((resolve) => slow.socket.write(byte, resolve));
    if (index % 40 === 0) t.equal((await ask(url)).text, 'app /');
  }
  await slow.until(/app \/slow/);
  t.match(slow.received(), /^HTTP\/1\.1 200 /);
});

t.test('a client that reads nothing holds up nobody', async (t) => {
  const { url, port } = await edgeOf(t, (request, response) =>
    response.end(request.url === '/large' ? Buffer.alloc(20 * 1024 * 1024) : 'small'),
  );
  const clients = await Promise.all(Array.from({ length: 5 }, () => connection(port)));
  for (const { socket } of clients) {
    socket.pause();
    socket.write(`GET /large HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`);
  }
  for (let request = 0; request < 20; request += 1) t.equal((await ask(url)).text, 'small');
  for (const { socket } of clients) socket.destroy();
});

t.test('what is not a request is refused, and the edge goes on', async (t) => {
  const seen: unknown[] = [];
  const { url, port } = await edgeOf(t, (request, response) => {
    seen.push(request.url);
    response.end('app');
  });
  const host = `Host: 127.0.0.1:${port}`;
  const cases: [string, RegExp][] = [
    ['nonsense\r\n\r\n', /^HTTP\/1\.1 400 /],
    ['GET / HTTP/9.9\r\n\r\n', /^HTTP\/1\.1 (400|505) /],
    ['GET / HTTP/1.1\r\n\r\n', /^HTTP\/1\.1 400 /],
    [`GET / HTTP/1.1\r\n${host}\r\nHost: evil.example\r\n\r\n`, /^HTTP\/1\.1 400 /],
    [`GET / HTTP/1.1\r\n${host}\r\nX: a\r\n folded\r\n\r\n`, /^HTTP\/1\.1 400 /],
    [`GET / HTTP/1.1\r\n${host}\r\nX-NNumbers-Identity : forged\r\n\r\n`, /^HTTP\/1\.1 400 /],
    // Request smuggling: two lengths, or a length and chunks (RFC 9112 section 6.3).
    [`POST / HTTP/1.1\r\n${host}\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab`, /^HTTP\/1\.1 400 /],
    [
      `POST / HTTP/1.1\r\n${host}\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      /^HTTP\/1\.1 400 /,
    ],
    [`POST / HTTP/1.1\r\n${host}\r\nTransfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n`, /^HTTP\/1\.1 400 /],
    [`GET / HTTP/1.1\r\n${host}\r\nCookie: ${'x'.repeat(17_000)}\r\n\r\n`, /^HTTP\/1\.1 431 /],
  ];
  for (const [text, answer] of cases) {
    t.match(await raw(port, text), answer, JSON.stringify(text.slice(0, 90)));
    t.strictSame(seen, [], 'nothing of it reached the application');
  }
  t.equal((await ask(url)).text, 'app');
});

t.test('header limits: 16 KiB of a browser, and of an application', async (t) => {
  const { url } = await edgeOf(t, (request, response) => {
    if (request.url === '/large-answer') response.setHeader('x-large', 'x'.repeat(20_000));
    response.end(String(request.headers['x-large']?.length));
  });
  const large = await ask(url, { headers: { 'x-large': 'x'.repeat(15_000) } });
  t.equal(large.text, '15000');
  t.equal((await ask(url, { headers: { 'x-large': 'x'.repeat(17_000) } })).status, 431);
  const answer = await ask(`${url}/large-answer`);
  t.equal(answer.status, 502);
  t.match(JSON.parse(answer.text), {
    code: 'APPLICATION_UNAVAILABLE',
    message: /^the application at http:\/\/127\.0\.0\.1:\d+ answered outside HTTP \(HPE_HEADER_OVERFLOW\)$/,
  });
});

t.test('clients that break off anywhere end nobody else', async (t) => {
  const { url, port } = await edgeOf(t, (request, response) => {
    request.on('error', () => undefined);
    response.write('beginning');
    request.resume().once('end', () => response.end('end'));
  });
  const text = `POST /x HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n`;
  for (let length = 1; length <= text.length; length += 7) {
    const { socket } = await connection(port);
    const closed = once(socket, 'close');
    socket.write(text.slice(0, length), () => socket.resetAndDestroy());
    await closed;
  }
  t.equal((await ask(url, { method: 'POST', body: 'x' })).text, 'beginningend');
});

t.test('200 WebSockets at once, each with its own person and its own messages', async (t) => {
  const { platform, url, server } = await edgeOf(t, (_request, response) => response.end());
  const sockets = new WebSocketServer({ server });
  sockets.on('connection', (ws, request) => {
    const claims = String(request.headers['x-nnumbers-identity']).split('.')[1] ?? '';
    const { email } = JSON.parse(Buffer.from(claims, 'base64url').toString());
    ws.on('message', (data) => ws.send(`${email} ${request.url} ${data}`));
  });
  const people = await Promise.all(
    ['ana@example.org', 'bruno@example.org'].map(async (email) => ({
      email,
      cookie: (await platform.signIn(email)).cookie,
    })),
  );
  const clients = Array.from({ length: 200 }, (_, index) => {
    const { email, cookie } = people[index % 2] ?? { email: '', cookie: '' };
    const ws = new WebSocket(`${url.replace('http', 'ws')}/${index}`, { headers: { cookie } });
    return { ws, email, index, open: once(ws, 'open') };
  });
  await Promise.all(clients.map(({ open }) => open));
  t.equal(sockets.clients.size, 200);
  for (const round of ['first', 'second']) {
    const answers = await Promise.all(
      clients.map(async ({ ws, index }) => {
        const answer = once(ws, 'message');
        ws.send(`${round} ${index}`);
        return String((await answer)[0]);
      }),
    );
    t.strictSame(
      answers,
      clients.map(({ email, index }) => `${email} /${index} ${round} ${index}`),
    );
  }
  // Half of them say goodbye, half are cut off: the application is told of each.
  const closed = Promise.all([...sockets.clients].map((ws) => once(ws, 'close')));
  for (const { ws, index } of clients) index % 2 === 0 ? ws.close(1000) : ws.terminate();
  await closed;
  t.equal(sockets.clients.size, 0);
  t.equal((await ask(url)).status, 200);
});
