import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { createRuntime, type Runtime } from '@nn-runtime/core';
import t from 'tap';
import { answerJson, answerKeys, type Handler, type ScriptedBroker, startScriptedBroker } from '../broker.js';
import { clients, overEach } from '../clients.js';
import { frameworks } from '../frameworks.js';
import { environment, makeKey, NOW_MS, token } from '../tokens.js';
import { hourLong, nextEvent, UNAVAILABLE, verdictOf } from './key-store.js';

const root = makeKey('root');
const b1 = makeKey('b1');
const b2 = makeKey('b2');

const goodBody = JSON.stringify({ keys: [b1.jwk, b2.jwk] });
const paddedTo = (bytes: number): string => goodBody + ' '.repeat(bytes - goodBody.length);
const send =
  (status: number, headers: Record<string, string>, body: string | Buffer): Handler =>
  (_request, response) => {
    response.writeHead(status, headers).end(body);
  };
const json = { 'content-type': 'application/json' };

// Where a redirect leads: it has the very keys that were asked for.
const elsewhere = createServer((_request, response) => {
  response.writeHead(200, json).end(goodBody);
});
elsewhere.listen(0, '127.0.0.1');
await once(elsewhere, 'listening');
let visitsElsewhere = 0;
elsewhere.on('request', () => {
  visitsElsewhere += 1;
});
const elsewhereUrl = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}/v1/jwks`;
t.teardown(() => {
  elsewhere.close();
  elsewhere.closeAllConnections();
});

const bomb = gzipSync(paddedTo(16 * 1024 * 1024));

const badAnswers: readonly [name: string, problem: string, answer: Handler][] = [
  ['never answers', 'timeout', () => undefined],
  [
    'answers with headers and no body',
    'timeout',
    (_request, response) => response.writeHead(200, json).flushHeaders(),
  ],
  [
    'drips its body',
    'timeout',
    (_request, response) => {
      response.writeHead(200, json);
      const drip = setInterval(() => response.write(' '), 5);
      response.on('close', () => clearInterval(drip));
    },
  ],
  [
    'breaks off in the body',
    'unreachable',
    (_request, response) => {
      response.writeHead(200, { ...json, 'content-length': String(goodBody.length) });
      response.write(goodBody.slice(0, 20), () => response.destroy());
    },
  ],
  ['resets the connection', 'unreachable', (_request, response) => response.destroy()],
  ['redirects (301)', 'unreachable', send(301, { location: elsewhereUrl }, '')],
  ['redirects (302)', 'unreachable', send(302, { location: elsewhereUrl }, '')],
  ['redirects (307)', 'unreachable', send(307, { location: elsewhereUrl }, goodBody)],
  ['redirects to itself', 'unreachable', send(308, { location: '/v1/jwks' }, goodBody)],
  ['answers 404', 'status', send(404, json, goodBody)],
  ['answers 500', 'status', send(500, json, goodBody)],
  ['answers 503', 'status', send(503, { ...json, 'retry-after': '60' }, goodBody)],
  ['answers 204', 'status', send(204, {}, '')],
  ['answers 206', 'status', send(206, json, goodBody)],
  [
    'answers HTML',
    'not-a-key-set',
    send(200, { 'content-type': 'text/html' }, '<!doctype html><title>Sign in</title>'),
  ],
  ['answers nothing', 'not-a-key-set', send(200, json, '')],
  ['answers half a document', 'not-a-key-set', send(200, json, goodBody.slice(0, -2))],
  ['answers with a BOM', 'not-a-key-set', send(200, json, `\ufeff${goodBody}`)],
  ['answers in UTF-16', 'not-a-key-set', send(200, json, Buffer.from(goodBody, 'utf16le'))],
  ['answers {}', 'not-a-key-set', answerJson(200, {})],
  ['answers null', 'not-a-key-set', answerJson(200, null)],
  ['answers a list', 'not-a-key-set', answerJson(200, [b1.jwk])],
  ['answers {"keys":{}}', 'not-a-key-set', answerJson(200, { keys: {} })],
  ['answers {"keys":"none"}', 'not-a-key-set', answerJson(200, { keys: 'none' })],
  ['answers {"keys":[]}', 'no-usable-key', answerJson(200, { keys: [] })],
  ['answers {"keys":[null]}', 'no-usable-key', answerJson(200, { keys: [null, 1, 'x', [], {}] })],
  ['answers a byte too much', 'too-large', send(200, json, paddedTo(262_145))],
  [
    'answers without end',
    'too-large',
    (_request, response) => {
      response.writeHead(200, json);
      const chunk = Buffer.alloc(65_536, ' ');
      const pour = (): void => {
        while (!response.destroyed && response.write(chunk));
        response.once('drain', pour);
      };
      pour();
    },
  ],
  ['answers with a gzip bomb', 'too-large', send(200, { ...json, 'content-encoding': 'gzip' }, bomb)],
  ['answers with broken gzip', 'unreachable', send(200, { ...json, 'content-encoding': 'gzip' }, 'not gzip')],
];

type Teardown = { teardown(fn: () => Promise<void>): void };

interface Store {
  readonly broker: ScriptedBroker;
  readonly runtime: Runtime;
  readonly clock: { ms: number };
}

async function startStoreWithBroker(
  t: Teardown,
  { brokerPath = '', keySetTimeoutMs = 5_000, client = clients[0] } = {},
): Promise<Store> {
  const broker = await startScriptedBroker();
  const clock = { ms: NOW_MS };
  const runtime = createRuntime({
    ...client?.options,
    env: environment([root], broker.url + brokerPath),
    now: () => clock.ms,
    random: () => 0,
    keySetTimeoutMs,
  });
  t.teardown(async () => {
    await runtime.close();
    await broker.close();
  });
  return { broker, runtime, clock };
}

/** Learns b1 from a good answer. A short deadline may pass on a busy machine: then it is asked again. */
async function learn({ broker, runtime, clock }: Store): Promise<void> {
  broker.onKeys(answerKeys(b1));
  do clock.ms += 10_000;
  while ((await verdictOf(runtime, hourLong(b1))) !== 'person ana-0001');
}

for (const client of clients)
  for (const [name, problem, answer] of badAnswers) {
    t.test(`a broker that ${name} (${client.name})`, async (t) => {
      const options = { client, ...(problem === 'timeout' && { keySetTimeoutMs: 250 }) };

      t.test(
        'leaves an unknown key unknowable, by the deadline, and heals with the next good answer',
        async (t) => {
          const { broker, runtime, clock } = await startStoreWithBroker(t, options);
          broker.onKeys(answer);
          const refreshed = nextEvent('nn-runtime:keys.refreshed');
          t.equal(await verdictOf(runtime, hourLong(b1)), UNAVAILABLE);
          t.match(await refreshed, { outcome: 'failed', problem });
          t.match(runtime.status(), { brokerKeys: 0, lastRefresh: 'failed' });
          t.equal(await verdictOf(runtime, hourLong(root)), 'person ana-0001');
          await learn({ broker, runtime, clock });
          t.match(runtime.status(), { brokerKeys: 1, lastRefresh: 'ok' });
        },
      );

      t.test('replaces nothing', async (t) => {
        const { broker, runtime, clock } = await startStoreWithBroker(t, options);
        await learn({ broker, runtime, clock });
        broker.onKeys(answer);
        clock.ms += 300_000;
        const refreshed = nextEvent('nn-runtime:keys.refreshed');
        t.equal(await verdictOf(runtime, hourLong(b1, 'eva')), 'person eva');
        t.match(await refreshed, { outcome: 'failed', problem });
        t.match(runtime.status(), { brokerKeys: 1, brokerKeysAgeSeconds: 300, lastRefresh: 'failed' });
        t.equal(await verdictOf(runtime, hourLong(b1, 'ida')), 'person ida');
      });
    });
  }

t.test('no redirect was ever followed', async (t) => {
  t.equal(visitsElsewhere, 0);
});

t.test('an answer of exactly the largest size, gzipped or dripped in time, is used', async (t) => {
  for (const answer of [
    send(200, json, paddedTo(262_144)),
    send(200, { ...json, 'content-encoding': 'gzip' }, gzipSync(goodBody)),
    send(200, {}, goodBody),
  ]) {
    const { broker, runtime } = await startStoreWithBroker(t);
    broker.onKeys(answer);
    t.equal(await verdictOf(runtime, hourLong(b2)), 'person ana-0001');
  }
});

t.test('a connection that hangs is closed at the deadline', async (t) => {
  const { broker, runtime } = await startStoreWithBroker(t, { keySetTimeoutMs: 250 });
  const closed = new Promise<void>((resolve) => {
    broker.onKeys((_request, response) => {
      response.writeHead(200, json).flushHeaders();
      response.on('close', resolve);
    });
  });
  t.equal(await verdictOf(runtime, hourLong(b1)), UNAVAILABLE);
  await closed;
  t.pass('the broker saw it closed');
});

overEach('the body of an answer that is not used is not waited for', async (t, client) => {
  const { broker, runtime } = await startStoreWithBroker(t, { client: { name: '', options: client } });
  const closed = new Promise<void>((resolve) => {
    broker.onKeys((_request, response) => {
      response.writeHead(404, json).write('without end');
      response.on('close', resolve);
    });
  });
  t.equal(await verdictOf(runtime, hourLong(b1)), UNAVAILABLE);
  await closed;
  t.pass('the broker saw its connection closed');
});

t.test('the deadline holds against a fetch that heeds no signal', async (t) => {
  const runtime = createRuntime({
    env: environment([root]),
    now: () => NOW_MS,
    keySetTimeoutMs: 20,
    fetch: () => new Promise<Response>(() => undefined),
  });
  // Nothing else keeps this process busy: the timer of the deadline does not count (see keys-exit).
  const busy = setInterval(() => undefined, 1_000);
  t.teardown(() => clearInterval(busy));
  t.equal(await verdictOf(runtime, hourLong(b1)), UNAVAILABLE);
});

t.test('the question is a plain GET that carries nothing of the request', async (t) => {
  for (const path of ['', '/', '//', '/inner', '/inner/']) {
    const { broker, runtime } = await startStoreWithBroker(t, { brokerPath: path });
    await verdictOf(runtime, token(b1, {}, { kid: 'canary-key-id' }));
    const [question] = broker.requests;
    t.equal(question?.method, 'GET');
    t.equal(question?.path, path.startsWith('/inner') ? '/inner/v1/jwks' : '/v1/jwks', path);
    t.equal(question?.headers.accept, 'application/json');
    t.equal(question?.body, '');
    t.notMatch(JSON.stringify(question), /canary|eyJ|cookie|identity|authorization/i);
  }
});

t.test('the default deadline is five seconds, and a longer one is refused', async (t) => {
  t.throws(() => createRuntime({ env: environment([root]), keySetTimeoutMs: 5_001 }), {
    code: 'CONFIGURATION_INVALID',
  });
  const deadlines: unknown[] = [];
  const { setTimeout: original } = globalThis;
  t.intercept(globalThis, 'setTimeout', {
    value: (callback: (...values: unknown[]) => void, ms: number, ...values: unknown[]) => {
      if (ms !== 5_000) return original(callback, ms, ...values);
      deadlines.push(ms);
      return original(callback, 0, ...values);
    },
  });
  const runtime = createRuntime({
    env: environment([root]),
    now: () => NOW_MS,
    fetch: () => new Promise<Response>(() => undefined),
  });
  const busy = setInterval(() => undefined, 1_000);
  t.teardown(() => clearInterval(busy));
  t.equal(await verdictOf(runtime, hourLong(b1)), UNAVAILABLE);
  t.strictSame(deadlines, [5_000]);
});

for (const framework of frameworks) {
  t.test(
    `${framework.name}: the first caller of a shared question goes away, and hurts nobody`,
    async (t) => {
      const broker = await startScriptedBroker();
      const app = await framework.start({ env: environment([root], broker.url), now: () => NOW_MS });
      t.teardown(async () => {
        await app.close();
        await broker.close();
      });
      let release: () => void = () => undefined;
      const asked = new Promise<void>((resolve) => {
        broker.onKeys((request, response, body) => {
          release = () => answerKeys(b1)(request, response, body);
          resolve();
        });
      });
      const leaving = new AbortController();
      const first = fetch(`${app.url}/me`, {
        headers: { 'x-nnumbers-identity': token(b1, { sub: 'first' }) },
        signal: leaving.signal,
      });
      first.catch(() => undefined);
      await asked;
      const others = ['second', 'third'].map((sub) =>
        fetch(`${app.url}/me`, { headers: { 'x-nnumbers-identity': token(b1, { sub }) } }).then((r) =>
          r.json(),
        ),
      );
      leaving.abort();
      await t.rejects(first);
      release();
      t.match(await Promise.all(others), [{ subject: 'second' }, { subject: 'third' }]);
      t.equal(broker.countOf('/v1/jwks'), 1);
    },
  );

  t.test(
    `${framework.name}: a key set that cannot be had is 503, for no longer than it cannot`,
    async (t) => {
      const broker = await startScriptedBroker();
      const clock = { ms: NOW_MS };
      const app = await framework.start({ env: environment([root], broker.url), now: () => clock.ms });
      t.teardown(async () => {
        await app.close();
        await broker.close();
      });
      broker.onKeys(answerJson(500, {}));
      const request = (): Promise<Response> =>
        fetch(`${app.url}/me`, { headers: { 'x-nnumbers-identity': token(b1) } });
      const refused = await request();
      t.equal(refused.status, 503);
      t.equal(refused.headers.get('retry-after'), '5');
      t.equal(refused.headers.get('cache-control'), 'no-store');
      t.equal(refused.headers.get('www-authenticate'), null);
      t.strictSame(await refused.json(), {
        code: 'APPLICATION_IDENTITY_NOT_READY',
        message: 'The identity of this request cannot be checked right now.',
      });
      t.strictSame(app.handled, []);
      t.strictSame(await (await fetch(`${app.url}/me`)).json(), { kind: 'anonymous' });
      broker.onKeys(answerKeys(b1));
      clock.ms += 1_000;
      t.match(await (await request()).json(), { kind: 'person', subject: 'ana-0001' });
    },
  );
}
