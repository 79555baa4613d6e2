import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { getEventListeners } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { createRuntime, type QueryMesh, type Runtime, type RuntimeOptions } from '@nn-runtime/core';
import t, { type Test } from 'tap';
import { answerJson, answerKeys, BRAZIL, startScriptedBroker } from '../broker.js';
import { overEach } from '../clients.js';
import { one, type RawBroker, startRawBroker, whole } from '../raw-broker.js';
import { environment, makeKey, NOW_MS, token } from '../tokens.js';

/** How the runtime speaks HTTP: bodies, codings, and connections that are kept, used again and closed. */

const key = makeKey('k1');

interface Setting {
  readonly broker: RawBroker;
  readonly runtime: Runtime;
  readonly queryMesh: QueryMesh;
}

async function setUp(t: Test, options: RuntimeOptions = {}): Promise<Setting> {
  const broker = await startRawBroker();
  const runtime = createRuntime({ env: environment([key], broker.url), now: () => NOW_MS, ...options });
  t.teardown(async () => {
    await runtime.close();
    await broker.close();
  });
  const { queryMesh } = await runtime.authenticate(token(key));
  return { broker, runtime, queryMesh };
}

const cellOf = async (queryMesh: QueryMesh): Promise<unknown> => (await queryMesh('SELECT 1')).rows[0]?.[0];

/** Lets what has arrived be read. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

overEach('a body that is cut is not of the protocol, and never fewer rows', async (t, client) => {
  const { broker, queryMesh } = await setUp(t, client);
  const body = one(1);
  const cuts: Record<string, string> = {
    'before its length': `HTTP/1.1 200 OK\r\nContent-Length: ${body.length + 1}\r\n\r\n${body}`,
    'between chunks': `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n`,
    'in a chunk': `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nff\r\n${body}`,
    'in a chunk’s size': `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n1g\r\n`,
    'with a refusal':
      'HTTP/1.1 503 No\r\nContent-Length: 99\r\n\r\n{"code":"QUERYMESH_UNAVAILABLE","message":""}',
  };
  for (const [where, answer] of Object.entries(cuts)) {
    broker.onRequest((socket) => socket.end(answer));
    await t.rejects(queryMesh('SELECT 1'), { code: 'QUERYMESH_PROTOCOL_ERROR', statusCode: 502 }, where);
  }
  broker.onRequest((socket) => {
    socket.write(`HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n${body}`, () => socket.resetAndDestroy());
  });
  await t.rejects(queryMesh('SELECT 1'), { code: 'QUERYMESH_PROTOCOL_ERROR' }, 'by a reset');
  broker.onRequest((socket) => socket.end(`HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n${body}`));
  t.equal(await cellOf(queryMesh), 1, 'a body without length ends with its connection');
  broker.onRequest((socket) =>
    socket.end(`HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n${body.slice(0, -1)}`),
  );
  await t.rejects(queryMesh('SELECT 1'), { code: 'QUERYMESH_PROTOCOL_ERROR' }, 'and must be whole');
});

overEach(
  'a compressed answer is counted decoded, and broken compression is not of the protocol',
  async (t, client) => {
    const { broker, queryMesh } = await setUp(t, { ...client, maxResponseBytes: 1_000 });
    const answer = (coding: string, body: Buffer): void =>
      broker.onRequest((socket) => socket.write(whole(body, [`Content-Encoding: ${coding}`])));
    for (const [coding, body] of [
      ['gzip', gzipSync(one(7))],
      ['GZIP', gzipSync(one(7))],
      ['deflate', deflateSync(one(7))],
      ['br', brotliCompressSync(one(7))],
      ['identity', Buffer.from(one(7))],
    ] as const) {
      answer(coding, body);
      t.equal(await cellOf(queryMesh), 7, coding);
    }
    for (const [what, body] of [
      ['a bomb', gzipSync(Buffer.alloc(50_000_000, ' '))],
      ['a cut one', gzipSync(one(7)).subarray(0, -9)],
      ['none', Buffer.from(one(7))],
    ] as const) {
      answer('gzip', body);
      await t.rejects(queryMesh('SELECT 1'), { code: 'QUERYMESH_PROTOCOL_ERROR' }, what);
    }
    answer('identity', Buffer.from(one(8)));
    t.equal(await cellOf(queryMesh), 8);
  },
);

t.test('no compression is asked for, and a coding that nobody knows is not of the protocol', async (t) => {
  const { broker, queryMesh } = await setUp(t);
  let asked = '';
  broker.onRequest((socket, { head }) => {
    asked = head;
    socket.write(whole(one(1), ['Content-Encoding: zstd-dictionary']));
  });
  await t.rejects(queryMesh('SELECT 1'), {
    code: 'QUERYMESH_PROTOCOL_ERROR',
    cause: { message: 'UNKNOWN_CONTENT_ENCODING' },
  });
  t.strictSame(
    asked
      .trim()
      .split('\r\n')
      .map((line) => line.replace(/:.*$/, '').toLowerCase()),
    [
      'post /v1/querymesh/query http/1.1',
      'content-type',
      'accept',
      'x-nnumbers-identity',
      'host',
      'connection',
      'content-length',
    ],
  );
  for (const coding of ['gzip, gzip', 'compress', 'constructor']) {
    broker.onRequest((socket) => socket.write(whole(one(1), [`Content-Encoding: ${coding}`])));
    await t.rejects(queryMesh('SELECT 1'), { code: 'QUERYMESH_PROTOCOL_ERROR' }, coding);
  }
});

overEach('what comes before an answer is passed over; what is none is 503', async (t, client) => {
  const { broker, queryMesh } = await setUp(t, client);
  broker.onRequest((socket) => {
    socket.write('HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n');
    socket.write(whole(one(2)));
  });
  t.equal(await cellOf(queryMesh), 2);
  for (const answer of [
    'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n',
    `HTTP/1.1 200 OK\r\nX-Long: ${'x'.repeat(100_000)}\r\n\r\n`,
    'SSH-2.0-OpenSSH_9.9\r\n',
    'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n{}',
    '',
  ]) {
    broker.onRequest((socket) => socket.end(answer));
    await t.rejects(
      queryMesh('SELECT 1'),
      { code: 'QUERYMESH_UNAVAILABLE', statusCode: 503 },
      answer.slice(0, 40),
    );
  }
  broker.onRequest((socket) => socket.write(whole(one(3))));
  t.equal(await cellOf(queryMesh), 3);
});

overEach(
  'one connection serves one query after the other, and as many as there are at once',
  async (t, client) => {
    const { broker, queryMesh } = await setUp(t, client);
    for (let at = 0; at < 5; at += 1) {
      await queryMesh('SELECT 1');
      await turn();
    }
    t.equal(broker.connections.length, 1);
    await Promise.all(Array.from({ length: 6 }, () => queryMesh('SELECT 1')));
    t.equal(broker.connections.length, 6);
  },
);

t.test(
  'a connection that was answered for the last time, or whose body nobody read, is not used again',
  async (t) => {
    const { broker, queryMesh } = await setUp(t, { maxResponseBytes: 1_000 });
    broker.onRequest((socket) => socket.write(whole(one(1), ['Connection: close'])));
    await queryMesh('SELECT 1');
    await broker.allClosed();
    broker.onRequest((socket) => socket.write(whole(' '.repeat(5_000_000))));
    await t.rejects(queryMesh('SELECT 1'), { code: 'QUERYMESH_PROTOCOL_ERROR' });
    await broker.allClosed();
    broker.onRequest((socket) => socket.write(whole('', ['Location: /'], '302 Found')));
    await t.rejects(queryMesh('SELECT 1'), { cause: { message: 'UNEXPECTED_REDIRECT' } });
    await broker.allClosed();
    broker.onRequest((socket) => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{'));
    await t.rejects(queryMesh('SELECT 1', { timeoutMs: 30 }), { code: 'QUERYMESH_TIMEOUT' });
    await broker.allClosed();
    const controller = new AbortController();
    broker.onRequest(() => controller.abort());
    await t.rejects(queryMesh('SELECT 1', { signal: controller.signal }), { code: 'QUERYMESH_ABORTED' });
    await broker.allClosed();
    broker.onRequest((socket) => socket.write(whole(one(9))));
    t.equal(await cellOf(queryMesh), 9);
    t.equal(broker.connections.length, 6);
  },
);

t.test(
  'an answer before the question was taken whole is the answer, and its connection is closed',
  async (t) => {
    const ended: string[] = [];
    // Longer than what two sockets hold of bytes that nobody reads.
    const long = `SELECT 1 -- ${'x'.repeat(16_000_000)}`;
    const server = createServer((socket) => {
      t.teardown(() => socket.destroy());
      socket.on('error', () => undefined);
      socket.once('data', () => {
        socket.pause();
        const refusal = '{"code":"QUERYMESH_UNAVAILABLE","message":""}';
        socket.write(whole(refusal, [], '503 Busy'));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const runtime = createRuntime({ env: environment([key], `http://127.0.0.1:${port}`), now: () => NOW_MS });
    t.teardown(async () => {
      await runtime.close();
      server.close();
    });
    // Whether this side has closed is seen here alone: a server that reads nothing does not see it.
    const closed = new Promise<void>((resolve) => {
      const created = ({ socket }: { socket: Socket }): void => {
        if (socket.remotePort !== port) socket.once('connect', () => created({ socket }));
        else socket.once('close', () => resolve());
      };
      const channel = 'net.client.socket';
      const onSocket = (message: unknown): void => created(message as { socket: Socket });
      subscribe(channel, onSocket);
      t.teardown(() => unsubscribe(channel, onSocket));
    });
    const { queryMesh } = await runtime.authenticate(token(key));
    await t.rejects(
      queryMesh(long).finally(() => ended.push('answer')),
      { code: 'QUERYMESH_UNAVAILABLE', cause: undefined },
    );
    await closed;
    t.strictSame(ended, ['answer']);
  },
);

t.test('what a broker sends without a question is not taken for the answer to the next one', async (t) => {
  const { broker, queryMesh } = await setUp(t);
  // An idle connection would be closed by itself after a minute: it is closed at once.
  t.setTimeout(20_000);
  broker.onRequest((socket, { connection }) =>
    socket.write(whole(one(connection), ['Keep-Alive: timeout=999'])),
  );
  t.equal(await cellOf(queryMesh), 0);
  await turn();
  broker.connections[0]?.write(whole(one(666)));
  await broker.allClosed();
  t.equal(await cellOf(queryMesh), 1);
  broker.connections[1]?.end();
  await broker.allClosed();
  broker.onRequest((socket, { connection }) =>
    socket.write(Buffer.concat([whole(one(connection)), whole(one(666))])),
  );
  t.equal(await cellOf(queryMesh), 2);
  await broker.allClosed();
  t.equal(await cellOf(queryMesh), 3);
});

t.test('a connection the broker closed meanwhile is not used', async (t) => {
  const { broker, queryMesh } = await setUp(t);
  broker.onRequest((socket, { connection }) => socket.write(whole(one(connection))));
  t.equal(await cellOf(queryMesh), 0);
  broker.connections[0]?.end();
  await broker.allClosed();
  t.equal(await cellOf(queryMesh), 1);
});

t.test('a connection is given up a second before its broker gives it up', async (t) => {
  const { broker, queryMesh } = await setUp(t);
  for (const [hint, connections] of [
    ['timeout=1', 2],
    ['timeout=0', 2],
    ['timeout=2', 1],
    ['max=5, timeout=65', 1],
  ] as const) {
    const from = broker.connections.length;
    broker.onRequest((socket) => socket.write(whole(one(1), [`Keep-Alive: ${hint}`])));
    await queryMesh('SELECT 1');
    await turn();
    await queryMesh('SELECT 1');
    t.equal(broker.connections.length - from, connections, hint);
    // The next hint is for a connection of its own.
    broker.onRequest((socket) => socket.write(whole(one(1), ['Connection: close'])));
    await queryMesh('SELECT 1');
    await broker.allClosed();
  }
  broker.onRequest((socket) => socket.write(whole(one(1), ['Keep-Alive: timeout=2'])));
  await queryMesh('SELECT 1');
  t.equal(broker.openCount(), 1);
  await broker.allClosed();
  t.pass('and closed when its time is up');
});

t.test('an answer on a connection that is used again may take longer than it may idle', async (t) => {
  const { broker, queryMesh } = await setUp(t);
  const sockets: Socket[] = [];
  const onSocket = (message: unknown): void => void sockets.push((message as { socket: Socket }).socket);
  subscribe('net.client.socket', onSocket);
  t.teardown(() => unsubscribe('net.client.socket', onSocket));
  const limits: unknown[] = [];
  broker.onRequest((socket) => {
    limits.push(sockets[0]?.timeout);
    socket.write(whole(one(1), ['Keep-Alive: timeout=9']));
  });
  await queryMesh('SELECT 1');
  await turn();
  t.equal(sockets[0]?.timeout, 8_000, 'while it is idle');
  await queryMesh('SELECT 1');
  t.equal(limits[1], 0);
  t.equal(broker.connections.length, 1);
});

t.test('a process that was too busy to close an idle connection does not use it either', async (t) => {
  const { broker, queryMesh } = await setUp(t);
  let passedMs = 0;
  const real = performance.now.bind(performance);
  t.intercept(performance, 'now', { value: () => real() + passedMs, configurable: true, writable: true });
  for (const [headers, limitMs] of [
    [[], 4_000],
    [['Keep-Alive: timeout=20'], 19_000],
    [['Keep-Alive: timeout=999999'], 60_000],
  ] as const) {
    broker.onRequest((socket) => socket.write(whole(one(1), headers)));
    // The former round's connection has its own limit.
    passedMs += 100_000;
    await Promise.all([queryMesh('SELECT 1'), queryMesh('SELECT 1')]);
    await turn();
    const from = broker.connections.length;
    passedMs += limitMs - 900;
    await queryMesh('SELECT 1');
    t.equal(broker.connections.length, from, `${limitMs}: still in time`);
    await turn();
    passedMs += limitMs + 1;
    await queryMesh('SELECT 1');
    t.equal(broker.connections.length, from + 1, `${limitMs}: too late`);
    t.equal(broker.openCount(), 1);
  }
});

t.test(
  'queries that come all at once after a pause share the closing of a connection, without a warning',
  async (t) => {
    const { broker, queryMesh } = await setUp(t);
    let passedMs = 0;
    const real = performance.now.bind(performance);
    t.intercept(performance, 'now', { value: () => real() + passedMs, configurable: true, writable: true });
    const warnings: string[] = [];
    const onWarning = ({ name }: Error): void => void warnings.push(name);
    process.on('warning', onWarning);
    t.teardown(() => process.off('warning', onWarning));
    await queryMesh('SELECT 1');
    await turn();
    passedMs += 4_001;
    await Promise.all(Array.from({ length: 20 }, () => queryMesh('SELECT 1')));
    await turn();
    t.equal(broker.connections.length, 21, 'the overdue connection was not used');
    t.same(warnings, []);
  },
);

t.test('connecting has a limit of its own; a query that was not sent may be sent again', async (t) => {
  // Takes connections, and never a word of TLS.
  const silent = await startRawBroker(() => undefined);
  t.teardown(() => silent.close());
  const url = silent.url.replace('http:', 'https:');
  const runtime = createRuntime({
    env: environment([key], url),
    now: () => NOW_MS,
    retry: { attempts: 2, maxDelayMs: 0 },
  });
  t.teardown(() => runtime.close());
  const { queryMesh } = await runtime.authenticate(token(key));
  const { setTimeout: real } = globalThis;
  let limits = 0;
  const value = (...call: Parameters<typeof real>): unknown => {
    const [work, ms] = call;
    if (ms !== 10_000) return real(...call);
    limits += 1;
    return real(work, 20);
  };
  t.intercept(globalThis, 'setTimeout', { value, configurable: true, writable: true });
  await t.rejects(queryMesh('SELECT 1'), {
    code: 'QUERYMESH_UNAVAILABLE',
    cause: { message: 'CONNECT_TIMEOUT' },
  });
  t.equal(limits, 2);
  await silent.allClosed();
});

t.test('the limit of connecting is over with connecting', async (t) => {
  const { broker, queryMesh } = await setUp(t);
  const timers = (): number => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
  const before = timers();
  let during = 0;
  broker.onRequest((socket) => {
    during = timers();
    socket.write(whole(one(4)));
  });
  for (const connection of ['new', 'used again']) {
    t.equal(await cellOf(queryMesh), 4);
    t.equal(during - before, 1, `${connection}: the time limit of the query, and no other`);
    t.equal(timers(), before);
    await turn();
  }
  t.equal(broker.connections.length, 1);
});

t.test('a question for keys does not wait behind queries, and uses their connections', async (t) => {
  const broker = await startScriptedBroker();
  const b1 = makeKey('b1');
  broker.onKeys(answerKeys(b1));
  const runtime = createRuntime({
    env: environment([key], broker.url),
    now: () => NOW_MS,
    maxConcurrentQueries: 1,
  });
  t.teardown(async () => {
    await runtime.close();
    await broker.close();
  });
  const { queryMesh } = await runtime.authenticate(token(key));
  let release: () => void = () => undefined;
  const asked = new Promise<void>((resolve) => {
    broker.onQuery((request, response, body) => {
      release = () => answerJson(200, BRAZIL)(request, response, body);
      resolve();
    });
  });
  const slow = queryMesh('SELECT 1');
  await asked;
  await runtime.authenticate(token(b1));
  t.equal(broker.countOf('/v1/jwks'), 1);
  release();
  await slow;
});

t.test('names and addresses of every kind are reached', async (t) => {
  const { broker } = await setUp(t);
  const hosts = ['127.0.0.1', 'localhost'];
  for (const host of hosts) {
    const runtime = createRuntime({
      env: environment([key], broker.url.replace('127.0.0.1', host)),
      now: () => NOW_MS,
    });
    const { queryMesh } = await runtime.authenticate(token(key));
    t.equal(await cellOf(queryMesh), 1, host);
    await runtime.close();
  }
  const hasIPv6 = Object.values(networkInterfaces()).some((list) =>
    list?.some(({ address }) => address === '::1'),
  );
  if (!hasIPv6) return t.comment('no IPv6 on this machine');
  const six = await startRawBroker(undefined, '::1');
  t.teardown(() => six.close());
  const runtime = createRuntime({ env: environment([key], six.url), now: () => NOW_MS });
  t.teardown(() => runtime.close());
  t.equal(await cellOf((await runtime.authenticate(token(key))).queryMesh), 1);
});

overEach('a long-lived signal keeps nothing of the queries it was given to', async (t, client) => {
  const { broker, queryMesh } = await setUp(t, client);
  const { signal } = new AbortController();
  await Promise.all(Array.from({ length: 20 }, () => queryMesh('SELECT 1', { signal })));
  broker.onRequest((socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n'));
  await t.rejects(queryMesh('SELECT 1', { signal }));
  t.strictSame(getEventListeners(signal, 'abort'), []);
});
