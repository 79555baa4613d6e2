import { once } from 'node:events';
import { connect } from 'node:net';
import { inspect } from 'node:util';
import { createRuntime, type QueryMeshError } from '@nn-runtime/core';
import {
  createTestBroker,
  createTestIdentities,
  type RefusalCode,
  type TestAnswer,
  testPeople,
} from '@nn-runtime/dev/testing';
import t, { type Test } from 'tap';
import { frameworks } from '../frameworks.js';
import { ask } from '../http.js';

const nations: TestAnswer = {
  columns: [
    { name: 'name', type: 'varchar' },
    { name: 'regionkey', type: 'bigint' },
  ],
  rows: [['BRAZIL', 1]],
};
const one = (cell: TestAnswer['rows'][number][number], type = 'varchar'): TestAnswer => ({
  columns: [{ name: 'c', type }],
  rows: [[cell]],
});

/** A broker, and Ana's queries of it. */
async function start(t: Test) {
  const broker = await createTestBroker();
  const runtime = createRuntime(broker.runtimeOptions);
  t.teardown(async () => {
    await runtime.close();
    await broker.close();
  });
  const { queryMesh } = await runtime.authenticate(broker.identities.header());
  const cell = async (sql: string) => (await queryMesh(sql)).rows[0]?.[0];
  return { broker, runtime, queryMesh, cell };
}

for (const framework of frameworks) {
  t.test(`${framework.name}: answers, refusals and what was asked`, async (t) => {
    const broker = await createTestBroker();
    t.teardown(() => broker.close());
    const app = await framework.start(broker.runtimeOptions);
    t.teardown(() => app.close());
    const query = (sql: string, person = testPeople.bruno) =>
      ask(`${app.url}/query?sql=${encodeURIComponent(sql)}`, {
        headers: broker.identities.headers(person),
      });

    broker.answer(nations);
    const answer = await query('SELECT name, regionkey FROM nation');
    t.equal(answer.status, 200);
    t.strictSame(answer.json(), nations);
    broker.refuse('QUERYMESH_ACCESS_DENIED', { sql: /salary/ });
    const denied = await query('SELECT salary FROM staff', testPeople.ana);
    t.equal(denied.status, 403);
    t.match(denied.json(), { code: 'QUERYMESH_ACCESS_DENIED' });

    t.match(broker.queries, [
      { sql: 'SELECT name, regionkey FROM nation', maxRows: 100_000 },
      { sql: 'SELECT salary FROM staff', maxRows: 100_000 },
    ]);
    t.strictSame(
      broker.queries.map(({ person }) => person),
      [testPeople.bruno, testPeople.ana],
    );
    t.equal(broker.keyRequests, 0, 'the environment has the key');
    const stranger = await ask(`${app.url}/me`, {
      headers: { 'x-nnumbers-identity': broker.identities.unknownKid() },
    });
    t.equal(stranger.status, 401);
    t.equal(broker.keyRequests, 1);
  });
}

t.test('every refusal of the table, with its status', async (t) => {
  const { broker, queryMesh } = await start(t);
  const table: [RefusalCode, number, string | null][] = [
    ['VALIDATION_FAILED', 400, null],
    ['USER_SESSION_REQUIRED', 401, null],
    ['IDENTITY_ASSERTION_INVALID', 401, null],
    ['ORGANIZATION_INTEGRATION_NOT_CONFIGURED', 409, null],
    ['QUERYMESH_NOT_ENABLED', 409, null],
    ['QUERYMESH_IDENTITY_REJECTED', 502, null],
    ['QUERYMESH_ACCESS_DENIED', 403, null],
    ['QUERYMESH_QUERY_FAILED', 422, null],
    ['QUERYMESH_UNAVAILABLE', 503, '1'],
    ['APPLICATION_IDENTITY_NOT_READY', 503, '1'],
  ];
  for (const [code, statusCode, retryAfter] of table) {
    broker.refuse(code, { times: 2 });
    await t.rejects(queryMesh('SELECT 1'), { code, statusCode }, code);
    const plain = await fetch(`${broker.url}/v1/querymesh/query`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-nnumbers-identity': broker.identities.header() },
      body: '{"sql":"SELECT 1"}',
    });
    t.equal(plain.status, statusCode);
    t.equal(plain.headers.get('retry-after'), retryAfter);
    const body = (await plain.json()) as object;
    t.strictSame(Object.keys(body), ['code', 'message']);
    t.match(body, { code, message: String });
  }
  broker.refuse('QUERYMESH_QUERY_FAILED', { statusCode: 502, message: 'a host of its own' });
  await t.rejects(queryMesh('SELECT 1'), {
    code: 'QUERYMESH_QUERY_FAILED',
    statusCode: 502,
    brokerMessage: 'a host of its own',
  });
  broker.refuse('QUERYMESH_UNAVAILABLE', { retryAfterSeconds: 7 });
  const busy = await queryMesh('SELECT 1').catch((error: QueryMeshError) => error.headers);
  t.match(busy, { 'retry-after': '7' });
  t.throws(() => broker.refuse('toString' as RefusalCode), TypeError);
  t.throws(() => broker.refuse('QUERYMESH_UNAVAILABLE', { statusCode: 502 }), TypeError);
  t.throws(() => broker.refuse('QUERYMESH_QUERY_FAILED', { statusCode: 500 as 502 }), TypeError);
});

t.test('limited answers go first, in turn; then the last one given that fits', async (t) => {
  const { broker, cell } = await start(t);
  broker.answer(one('any'));
  broker.answer(one('exact'), { sql: 'SELECT 2' });
  broker.answer(one('pattern'), { sql: /from b/gi });
  broker.answer(({ sql }) => one(`${sql.length}`), {
    sql: ({ person, sql }) => person.name === 'Ana Souza' && sql.endsWith('!'),
  });
  broker.answerInTurn([one('first'), one('second')]);
  broker.answer(one('twice'), { times: 2, sql: 'SELECT 2' });
  t.equal(broker.remaining, 4);
  t.equal(await cell('SELECT 1'), 'first');
  t.equal(await cell('SELECT 2'), 'second');
  t.equal(await cell('SELECT 2'), 'twice');
  t.equal(await cell('SELECT 2 '), 'any');
  t.equal(await cell('SELECT 2'), 'twice');
  t.equal(broker.remaining, 0);
  t.equal(await cell('SELECT 2'), 'exact');
  for (const _ of [1, 2]) t.equal(await cell('select * FROM b'), 'pattern');
  t.equal(await cell('SELECT!'), '7');
  broker.answer(one('newest'));
  t.equal(await cell('SELECT 2'), 'newest');
  for (const times of [0, 1.5, -1, Number.NaN]) t.throws(() => broker.answer(nations, { times }), TypeError);
});

t.test('a query nothing was prepared for is refused, and listed', async (t) => {
  const { broker, queryMesh } = await start(t);
  broker.answer(nations, { sql: 'SELECT 1' });
  await queryMesh('SELECT 1');
  await t.rejects(queryMesh('SELECT 2'), { code: 'QUERYMESH_QUERY_FAILED', statusCode: 422 });
  t.match(broker.unexpected, [{ sql: 'SELECT 2' }]);
  t.equal(broker.queries.length, 2);
  broker.reset();
  t.strictSame([broker.queries, broker.unexpected], [[], []]);
  await t.rejects(queryMesh('SELECT 1'), { code: 'QUERYMESH_QUERY_FAILED' });
});

t.test('values arrive as they were written', async (t) => {
  const { broker, cell } = await start(t);
  broker.answerInTurn([
    one(9_223_372_036_854_775_807n, 'bigint'),
    one('1.50', 'decimal(3,2)'),
    one([1, null, [true]], 'row(a bigint, b varchar, c array(boolean))'),
    one({ 1: 2n ** 63n - 1n }, 'map(integer, bigint)'),
    one('NaN', 'double'),
  ]);
  t.equal(await cell('SELECT 1'), 9_223_372_036_854_775_807n);
  t.equal(await cell('SELECT 1'), '1.50');
  t.strictSame(await cell('SELECT 1'), [1, null, [true]]);
  t.strictSame(await cell('SELECT 1'), new Map([[1, 9_223_372_036_854_775_807n]]));
  t.ok(Number.isNaN(await cell('SELECT 1')));
});

t.test('what no broker sends is a TypeError in the test, without the value', async (t) => {
  const { broker } = await start(t);
  const wrong: unknown[] = [
    { columns: [{ name: 'c', type: 'varchar' }], rows: [['secret-1', 'secret-2']] },
    { columns: [{ name: 'c', type: 'varchar' }], rows: ['secret'] },
    { columns: [{ name: 'c' }], rows: [] },
    { rows: [] },
    one(Number.NaN, 'double'),
    one(new Date('2026-11-30') as never),
    one(undefined as never),
    one([1, undefined] as never),
  ];
  for (const answer of wrong) {
    const error = t.throws(() => broker.answer(answer as TestAnswer), TypeError);
    t.notMatch(inspect(error), /secret/);
  }
});

t.test('more rows than the caller asked for are a refusal, as in QueryMesh', async (t) => {
  const { broker, queryMesh } = await start(t);
  broker.answer({
    ...nations,
    rows: [
      ['A', 1],
      ['B', 2],
    ],
  });
  t.equal((await queryMesh('SELECT 1', { maxRows: 2 })).rows.length, 2);
  await t.rejects(queryMesh('SELECT 1', { maxRows: 1 }), { code: 'QUERYMESH_QUERY_FAILED', statusCode: 422 });
  t.strictSame(
    broker.queries.map(({ maxRows }) => maxRows),
    [2, 1],
  );
});

t.test('the broker checks who asks and what, as the platform does', async (t) => {
  const identities = createTestIdentities();
  const broker = await createTestBroker({ identities });
  t.teardown(() => broker.close());
  t.equal(broker.identities, identities);
  broker.answer(nations);
  const query = async (headers: Record<string, string | string[]>, body = '{"sql":"SELECT 1"}') =>
    ask(`${broker.url}/v1/querymesh/query`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body,
    });
  const codeOf = async (answer: ReturnType<typeof query>) => {
    const { status, json } = await answer;
    return [status, (json() as { code?: string }).code];
  };
  t.equal((await query(identities.headers())).status, 200);
  t.strictSame(await codeOf(query({})), [401, 'USER_SESSION_REQUIRED']);
  for (const { name, headers } of identities.refused()) {
    if (name === 'longLived' || name === 'tooLong') continue;
    t.strictSame(await codeOf(query(headers)), [401, 'IDENTITY_ASSERTION_INVALID'], name);
  }
  const bodies = [
    '',
    '[]',
    '{"sql":" "}',
    '{"sql":"SELECT 1","max_rows":0}',
    '{"sql":"SELECT 1","max_rows":100001}',
  ];
  for (const body of bodies)
    t.strictSame(await codeOf(query(identities.headers(), body)), [400, 'VALIDATION_FAILED'], body);
  t.strictSame(await codeOf(query({ ...identities.headers(), 'content-type': 'text/plain' })), [
    400,
    'VALIDATION_FAILED',
  ]);
  t.equal(broker.queries.length, 1, 'what was refused is no query');
  t.equal((await ask(`${broker.url}/v1/querymesh/query`)).status, 404);
  t.strictSame((await ask(`${broker.url}/v1/jwks`)).json(), identities.jwks());
});

t.test('a held query waits for the test, and no time passes', async (t) => {
  const { broker, queryMesh } = await start(t);
  broker.answer(nations);
  const held = broker.hold();
  let settled = false;
  const pending = queryMesh('SELECT 1').finally(() => {
    settled = true;
  });
  t.match(await held.arrived, { sql: 'SELECT 1', person: { name: 'Ana Souza' } });
  await queryMesh('SELECT 2');
  t.notOk(settled, 'another query overtakes it');
  held.release();
  t.equal((await pending).rows[0]?.[0], 'BRAZIL');

  const second = broker.hold({ sql: /3/ });
  const third = queryMesh('SELECT 3');
  await second.arrived;
  second.answer(one('late'));
  t.equal((await third).rows[0]?.[0], 'late');

  const refusal = broker.hold();
  const fourth = queryMesh('SELECT 4');
  refusal.refuse('QUERYMESH_ACCESS_DENIED');
  await t.rejects(fourth, { code: 'QUERYMESH_ACCESS_DENIED' }, 'a decision may come before the query');
});

t.test('a caller that goes away is seen', async (t) => {
  const { broker, queryMesh } = await start(t);
  const held = broker.hold();
  const controller = new AbortController();
  const pending = queryMesh('SELECT 1', { signal: controller.signal });
  await held.arrived;
  controller.abort();
  await t.rejects(pending, { code: 'QUERYMESH_ABORTED' });
  await held.abandoned;
  const timed = broker.hold();
  await t.rejects(queryMesh('SELECT 1', { timeoutMs: 1 }), { code: 'QUERYMESH_TIMEOUT' });
  timed.release();
});

t.test('answers outside the protocol', async (t) => {
  const { broker, queryMesh } = await start(t);
  broker.respond({ statusCode: 200, body: '<html>sign in</html>', headers: { 'content-type': 'text/html' } });
  await t.rejects(queryMesh('SELECT 1'), { code: 'QUERYMESH_PROTOCOL_ERROR' });
  broker.respond({ statusCode: 200, body: '{"columns":[],"rows":[', cut: true });
  await t.rejects(queryMesh('SELECT 1'), { code: 'QUERYMESH_PROTOCOL_ERROR' });
  const cut = await fetch(`${broker.url}/v1/querymesh/query`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-nnumbers-identity': broker.identities.header() },
    body: '{"sql":"SELECT 1"}',
  });
  t.equal(cut.status, 200);
  await t.rejects(cut.text(), 'half a body is no body');
  broker.drop();
  await t.rejects(queryMesh('SELECT 1'), { code: 'QUERYMESH_UNAVAILABLE' });
});

t.test('a state of the key set that there is none of is a TypeError, and changes nothing', async (t) => {
  const broker = await createTestBroker();
  t.teardown(() => broker.close());
  t.throws(() => broker.setKeySet('slow' as 'up'), {
    name: 'TypeError',
    message: 'the key set is up, down, garbage',
  });
  const keys = await fetch(`${broker.env.NNUMBERS_BROKER_URL}/v1/jwks`);
  t.strictSame(await keys.json(), broker.identities.jwks());
});

t.test('keys that cannot be had are 503, and found once they are back', async (t) => {
  let nowMs = Date.UTC(2026, 10, 30);
  const broker = await createTestBroker({ now: () => nowMs });
  const runtime = createRuntime(broker.runtimeOptions);
  t.teardown(async () => {
    await runtime.close();
    await broker.close();
  });
  broker.identities.rotateKey();
  for (const state of ['down', 'garbage'] as const) {
    broker.setKeySet(state);
    await t.rejects(runtime.authenticate(broker.identities.header()), {
      code: 'APPLICATION_IDENTITY_NOT_READY',
    });
    nowMs += 61_000;
  }
  broker.setKeySet('up');
  const { identity } = await runtime.authenticate(broker.identities.header());
  t.equal(identity.kind, 'person');
  t.equal(broker.keyRequests, 3);
});

t.test('what an answer function throws comes out of close()', async (t) => {
  const broker = await createTestBroker();
  const runtime = createRuntime(broker.runtimeOptions);
  t.teardown(() => runtime.close());
  const { queryMesh } = await runtime.authenticate(broker.identities.header());
  broker.answer(() => {
    throw new Error('not what I expected');
  });
  await t.rejects(queryMesh('SELECT 1'), { code: 'QUERYMESH_PROTOCOL_ERROR' });
  await t.rejects(broker.close(), { message: 'not what I expected' });
  await broker.close();
});

t.test('closing ends everything, and what was asked can still be read', async (t) => {
  let url = '';
  let outcome: Promise<unknown> = Promise.resolve();
  let unheard: Promise<unknown> = Promise.resolve();
  const seen = await (async () => {
    await using broker = await createTestBroker();
    url = broker.url;
    const runtime = createRuntime(broker.runtimeOptions);
    t.teardown(() => runtime.close());
    const { queryMesh } = await runtime.authenticate(broker.identities.header());
    const held = broker.hold();
    unheard = broker.hold().arrived;
    outcome = t.rejects(queryMesh('SELECT 1'), { code: 'QUERYMESH_UNAVAILABLE' });
    await held.arrived;
    return broker;
  })();
  await outcome;
  await t.rejects(unheard, { message: /closed/ });
  t.match(seen.queries, [{ sql: 'SELECT 1' }]);
  await t.rejects(fetch(`${url}/v1/jwks`));
});

t.test('a caller that hangs up in the middle of its request is no failure of the test', async (t) => {
  const broker = await createTestBroker();
  const socket = connect(Number(new URL(broker.url).port), '127.0.0.1');
  await once(socket, 'connect');
  socket.write(
    `POST /v1/querymesh/query HTTP/1.1\r\nHost: a\r\nX-NNumbers-Identity: ${broker.identities.header()}\r\n` +
      'Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"sql"',
  );
  socket.resetAndDestroy();
  await once(socket, 'close');
  await t.resolves(broker.close());
});

t.test('printing a broker prints no SQL and no identity', async (t) => {
  const { broker, queryMesh } = await start(t);
  broker.answer(one('secret-value'));
  await queryMesh("SELECT 'secret-value'");
  t.notMatch(inspect(broker, { depth: 9, showHidden: true }), /secret-value|eyJ/);
  t.match(broker.queries, [{ sql: "SELECT 'secret-value'" }]);
});
