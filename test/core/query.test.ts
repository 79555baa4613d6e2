import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { inspect } from 'node:util';
import { createRuntime, type QueryMesh, type RuntimeOptions } from '@nn-runtime/core';
import t, { type Test } from 'tap';
import { z } from 'zod';
import { answerJson, BRAZIL, type ScriptedBroker, startScriptedBroker } from '../broker.js';
import { overEach } from '../clients.js';
import { environment, makeKey, NOW_MS, token } from '../tokens.js';

const key = makeKey('k1');
const identity = token(key);

interface Setting {
  readonly broker: ScriptedBroker;
  readonly queryMesh: QueryMesh;
  readonly close: () => Promise<void>;
}

async function setUp(t: Test, options: RuntimeOptions = {}): Promise<Setting> {
  const broker = await startScriptedBroker();
  const runtime = createRuntime({ env: environment([key], broker.url), now: () => NOW_MS, ...options });
  t.teardown(async () => {
    await runtime.close();
    await broker.close();
  });
  const { queryMesh } = await runtime.authenticate(identity);
  return { broker, queryMesh, close: () => runtime.close() };
}

overEach('the SQL is sent as written', async (t, client) => {
  const { broker, queryMesh } = await setUp(t, client);
  for (const sql of ['SELECT 1;', '  SELECT 1\n', '-- a\nSELECT "ü" -- ;', 'SELECT \u0000']) {
    await queryMesh(sql);
    t.strictSame(JSON.parse(broker.requests.at(-1)?.body ?? ''), { sql });
  }
});

overEach('an option that there is none of is refused, and nothing is sent', async (t, client) => {
  const { broker, queryMesh } = await setUp(t, client);
  for (const options of [{ max_rows: 5 }, { maxrows: 5 }, ['BRAZIL'], { maxRows: 5, subject: 'ana' }]) {
    const error: unknown = await queryMesh('SELECT 1', options as object).catch((reason: unknown) => reason);
    t.match(error, {
      code: 'VALIDATION_FAILED',
      message: 'The options are maxRows, signal, timeoutMs, row, retry, bigint, and no other.',
    });
  }
  t.equal(broker.requests.length, 0);
  await queryMesh('SELECT 1', { max_rows: undefined } as object);
  t.equal(broker.requests.length, 1);
});

overEach('max_rows is sent only when asked for, and only from 1 to 100,000', async (t, client) => {
  const { broker, queryMesh } = await setUp(t, client);
  await queryMesh('SELECT 1', { maxRows: 1 });
  t.equal(broker.requests.at(-1)?.body, '{"sql":"SELECT 1","max_rows":1}');
  await queryMesh('SELECT 1', { maxRows: 100_000 });
  t.equal(broker.requests.at(-1)?.body, '{"sql":"SELECT 1","max_rows":100000}');
  const sent = broker.requests.length;
  for (const maxRows of [
    0,
    -1,
    1.5,
    100_001,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    '5' as unknown as number,
  ]) {
    await t.rejects(
      queryMesh('SELECT 1', { maxRows }),
      { code: 'VALIDATION_FAILED', statusCode: 400 },
      String(maxRows),
    );
  }
  t.equal(broker.requests.length, sent, 'nothing was sent');
});

overEach('wrong arguments are refused here, by name, and nothing is sent', async (t, client) => {
  const { broker, queryMesh } = await setUp(t, client);
  for (const sql of ['', '  \n', undefined, null, 5, {}, ['SELECT 1']]) {
    await t.rejects(queryMesh(sql as string), { code: 'VALIDATION_FAILED', message: /SQL/ }, inspect(sql));
  }
  for (const timeoutMs of [0, -1, 0.5, 2 ** 31, Number.NaN]) {
    await t.rejects(queryMesh('SELECT 1', { timeoutMs }), {
      code: 'VALIDATION_FAILED',
      message: /timeoutMs/,
    });
  }
  for (const options of [null, 5, 'maxRows']) {
    await t.rejects(queryMesh('SELECT 1', options as never), {
      code: 'VALIDATION_FAILED',
      message: /options/,
    });
  }
  await t.rejects(queryMesh('SELECT 1', { signal: {} as AbortSignal }), { message: /signal/ });
  await t.rejects(queryMesh('SELECT 1', { bigint: 'big' as 'auto' }), { message: /bigint/ });
  t.equal(broker.requests.length, 0);
});

t.test('without a person, or with one whose identity expired meanwhile, nothing is sent', async (t) => {
  const broker = await startScriptedBroker();
  let nowMs = NOW_MS;
  const runtime = createRuntime({ env: environment([key], broker.url), now: () => nowMs });
  t.teardown(async () => {
    await runtime.close();
    await broker.close();
  });
  const anonymous = await runtime.authenticate(undefined);
  await t.rejects(anonymous.queryMesh('SELECT 1'), { code: 'USER_SESSION_REQUIRED', statusCode: 401 });
  const person = await runtime.authenticate(identity);
  // Five minutes of life and one of tolerance: the last millisecond, and the first too late.
  nowMs = NOW_MS + 359_999;
  await person.queryMesh('SELECT 1');
  nowMs = NOW_MS + 360_000;
  await t.rejects(person.queryMesh('SELECT 1'), { code: 'IDENTITY_ASSERTION_INVALID', statusCode: 401 });
  t.equal(broker.requests.length, 1);
});

overEach('an abort ends the call with its reason; an aborted signal makes none', async (t, client) => {
  const { broker, queryMesh } = await setUp(t, client);
  const reason = new Error('enough');
  await t.rejects(queryMesh('SELECT 1', { signal: AbortSignal.abort(reason) }), {
    code: 'QUERYMESH_ABORTED',
    statusCode: 499,
    cause: reason,
  });
  t.equal(broker.requests.length, 0);
  const controller = new AbortController();
  broker.onQuery(() => controller.abort(reason));
  await t.rejects(queryMesh('SELECT 1', { signal: controller.signal }), {
    code: 'QUERYMESH_ABORTED',
    cause: reason,
  });
});

overEach('a call that takes too long ends as 504, head or body', async (t, client) => {
  const { broker, queryMesh } = await setUp(t, client);
  broker.onQuery(() => undefined);
  await t.rejects(queryMesh('SELECT 1', { timeoutMs: 20 }), { code: 'QUERYMESH_TIMEOUT', statusCode: 504 });
  broker.onQuery((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).write('{"columns":');
  });
  await t.rejects(queryMesh('SELECT 1', { timeoutMs: 20 }), { code: 'QUERYMESH_TIMEOUT' });
});

t.test('the time limit holds against a fetch that ignores its signal', async (t) => {
  const { queryMesh } = await setUp(t, {
    fetch: () => new Promise<Response>(() => undefined),
    timeoutMs: 20,
  });
  await t.rejects(queryMesh('SELECT 1'), { code: 'QUERYMESH_TIMEOUT' });
});

overEach('an answer that is not of the protocol is 502, without its text', async (t, client) => {
  const { broker, queryMesh } = await setUp(t, client);
  const answers: [number, string][] = [
    [200, '<html>canary-text'],
    [200, ''],
    [200, '{"columns":[],"rows":[[1]]}'],
    [200, '{"columns":[{"name":"a","type":"bigint"}],"rows":[["canary-text"]]}'],
    [200, '{"columns":[{"name":"a","type":"bigint"}],"rows":[[1]'],
    [203, JSON.stringify(BRAZIL)],
    [204, ''],
    [404, '{"code":"NOT_FOUND","message":"canary-text"}'],
    [429, 'canary-text'],
    [500, '<html>canary-text'],
    // A code of the table, under a status the table does not give it.
    [500, '{"code":"QUERYMESH_ACCESS_DENIED","message":"canary-text"}'],
    [401, '{"code":"QUERYMESH_NOT_ENABLED","message":"canary-text"}'],
    [503, '{"code":"__proto__","message":"canary-text"}'],
    [503, '{"code":"QUERYMESH_UNAVAILABLE"}'],
    [403, '["QUERYMESH_ACCESS_DENIED"]'],
  ];
  for (const [status, body] of answers) {
    broker.onQuery((_request, response) => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(body);
    });
    const error: unknown = await queryMesh('SELECT 1').catch((thrown: unknown) => thrown);
    t.match(
      error,
      { code: 'QUERYMESH_PROTOCOL_ERROR', statusCode: 502, retryable: false },
      `${status} ${body}`,
    );
    t.notMatch(inspect(error, { showHidden: true, depth: 9 }), 'canary-text');
  }
});

overEach('an answer past maxResponseBytes is an error, never fewer rows', async (t, client) => {
  const { broker, queryMesh } = await setUp(t, { ...client, maxResponseBytes: 1000 });
  const rows = (count: number) => ({
    columns: [{ name: 'a', type: 'integer' }],
    rows: Array(count).fill([1]),
  });
  broker.onQuery(answerJson(200, rows(200)));
  t.equal((await queryMesh('SELECT 1')).rows.length, 200);
  broker.onQuery(answerJson(200, rows(300)));
  await t.rejects(queryMesh('SELECT 1'), { code: 'QUERYMESH_PROTOCOL_ERROR' });
});

overEach('a broker that cannot be reached is 503, and says which fault in its cause', async (t, client) => {
  const broker = await startScriptedBroker();
  const runtime = createRuntime({ ...client, env: environment([key], broker.url), now: () => NOW_MS });
  t.teardown(() => runtime.close());
  await broker.close();
  const { queryMesh } = await runtime.authenticate(identity);
  const error = await queryMesh('SELECT canary-sql').catch((thrown: unknown) => thrown);
  t.match(error, {
    code: 'QUERYMESH_UNAVAILABLE',
    statusCode: 503,
    retryable: true,
    cause: { message: 'ECONNREFUSED' },
  });
  t.notMatch(inspect(error, { showHidden: true, depth: 9 }), 'canary-sql');
});

overEach('a redirect is not followed: the identity goes to the broker alone', async (t, client) => {
  const { broker, queryMesh } = await setUp(t, client);
  const elsewhere = await startScriptedBroker();
  t.teardown(() => elsewhere.close());
  for (const status of [301, 302, 303, 307, 308]) {
    broker.onQuery((_request, response) => {
      response.writeHead(status, { location: `${elsewhere.url}/v1/querymesh/query` }).end();
    });
    await t.rejects(queryMesh('SELECT 1'), { code: 'QUERYMESH_UNAVAILABLE' }, String(status));
  }
  t.equal(elsewhere.requests.length, 0);
});

overEach('a refusal keeps the broker’s words where nothing prints them', async (t, client) => {
  const { broker, queryMesh } = await setUp(t, client);
  broker.onQuery(
    answerJson(422, {
      code: 'QUERYMESH_QUERY_FAILED',
      message: "line 1:8: Column 'canary' cannot be resolved",
    }),
  );
  const error = await queryMesh('SELECT canary').catch((thrown: unknown) => thrown);
  t.match(error, {
    code: 'QUERYMESH_QUERY_FAILED',
    statusCode: 422,
    advice: 'Check the query and repeat; on 502, talk to whoever administers the QueryMesh.',
    brokerMessage: "line 1:8: Column 'canary' cannot be resolved",
  });
  t.notMatch(inspect(error, { depth: 9 }), 'canary');
  t.notMatch(JSON.stringify(error), 'canary');
  t.notMatch(String((error as Error).stack), 'canary');
});

overEach('Retry-After of the broker is passed on in seconds; nonsense is not', async (t, client) => {
  const { broker, queryMesh } = await setUp(t, client);
  const delays: [string, string][] = [
    ['30', '30'],
    ['0', '0'],
    ['9999999', '9999999'],
    ['9'.repeat(400), '2147483647'],
    // The answer's own Date says what time it is: 11:59:30.
    ['Mon, 30 Nov 2026 12:00:00 GMT', '30'],
    ['Mon, 30 Nov 2026 11:00:00 GMT', '0'],
    ['Fri, 31 Dec 9999 23:59:59 GMT', '2147483647'],
    ['-5', '1'],
    ['1.5', '1'],
    ['2026-11-30T12:00:00Z', '1'],
    ['Mon, 99 Nov 2026 12:00:00 GMT', '1'],
  ];
  for (const [sent, given] of delays) {
    broker.onQuery(
      answerJson(
        503,
        { code: 'QUERYMESH_UNAVAILABLE', message: '' },
        { 'retry-after': sent, date: 'Mon, 30 Nov 2026 11:59:30 GMT' },
      ),
    );
    const error: unknown = await queryMesh('SELECT 1').catch((thrown: unknown) => thrown);
    t.match(error, { headers: { 'retry-after': given } });
  }
});

overEach('each query is one event, without SQL, token or claims', async (t, client) => {
  const { broker, queryMesh } = await setUp(t, client);
  const events: unknown[] = [];
  const listener = (event: unknown) => events.push(event);
  subscribe('nn-runtime:query', listener);
  t.teardown(() => unsubscribe('nn-runtime:query', listener));
  await queryMesh('SELECT 1');
  broker.onQuery(answerJson(403, { code: 'QUERYMESH_ACCESS_DENIED', message: 'no' }));
  await t.rejects(queryMesh('SELECT 1'));
  broker.onQuery(answerJson(200, { columns: [] }));
  await t.rejects(queryMesh('SELECT 1'));
  broker.onQuery(answerJson(200, { columns: [{ name: 'a', type: 'varchar' }], rows: [['claim-value']] }));
  await t.rejects(queryMesh('SELECT 1', { row: z.object({ a: z.number() }) }));
  await queryMesh('SELECT 1', { row: z.object({ a: z.string() }) });
  t.strictSame(events, [
    { status: 200, code: 'OK', rows: 1, bytes: 105, milliseconds: 0 },
    { status: 403, code: 'QUERYMESH_ACCESS_DENIED', rows: 0, bytes: 0, milliseconds: 0 },
    { status: 502, code: 'QUERYMESH_PROTOCOL_ERROR', rows: 0, bytes: 14, milliseconds: 0 },
    { status: 502, code: 'QUERYMESH_ROW_INVALID', rows: 0, bytes: 68, milliseconds: 0 },
    { status: 200, code: 'OK', rows: 1, bytes: 68, milliseconds: 0 },
  ]);
});

overEach('close ends the queries in flight, and later ones are not sent', async (t, client) => {
  const { broker, queryMesh, close } = await setUp(t, client);
  const asked = new Promise<void>((resolve) => broker.onQuery(() => resolve()));
  const pending = t.rejects(queryMesh('SELECT 1'), { code: 'QUERYMESH_ABORTED' });
  await asked;
  await close();
  await pending;
  await t.rejects(queryMesh('SELECT 1'), { code: 'QUERYMESH_ABORTED' });
  t.equal(broker.requests.length, 1);
});

overEach('many queries under one signal are no leak, and no warning of one', async (t, client) => {
  const { queryMesh } = await setUp(t, client);
  const warnings: Error[] = [];
  const onWarning = (warning: Error) => warnings.push(warning);
  process.on('warning', onWarning);
  t.teardown(() => process.off('warning', onWarning));
  const { signal } = new AbortController();
  await Promise.all(Array.from({ length: 50 }, () => queryMesh('SELECT 1', { signal })));
  await new Promise((resolve) => setImmediate(resolve));
  t.strictSame(warnings, []);
});
