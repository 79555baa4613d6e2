import { createRuntime, type QueryMesh, type RuntimeOptions } from '@nn-runtime/core';
import type { Test } from 'tap';
import { answerJson, BRAZIL, type Handler, type ScriptedBroker, startScriptedBroker } from '../broker.js';
import { overEach } from '../clients.js';
import { environment, makeKey, NOW_MS, token } from '../tokens.js';

const key = makeKey('k1');
const unavailable = (headers: Record<string, string> = {}): Handler =>
  answerJson(503, { code: 'QUERYMESH_UNAVAILABLE', message: '' }, headers);
const rows = answerJson(200, BRAZIL);

interface Setting {
  readonly broker: ScriptedBroker;
  readonly queryMesh: QueryMesh;
  /** The pauses asked for; each is over at once, and moves the clock. */
  readonly pausesMs: number[];
}

async function setUp(t: Test, options: RuntimeOptions = {}): Promise<Setting> {
  const broker = await startScriptedBroker();
  const pausesMs: number[] = [];
  let nowMs = NOW_MS;
  const runtime = createRuntime({
    env: environment([key], broker.url),
    now: () => nowMs,
    random: () => 0.5,
    wait: async (milliseconds) => {
      pausesMs.push(milliseconds);
      nowMs += milliseconds;
    },
    ...options,
  });
  t.teardown(async () => {
    await runtime.close();
    await broker.close();
  });
  const { queryMesh } = await runtime.authenticate(token(key));
  return { broker, queryMesh, pausesMs };
}

/** Answers with each handler in turn, and with the last one from then on. */
function script(...handlers: readonly Handler[]): Handler {
  let at = 0;
  return (request, response, body) => {
    const handler = handlers[Math.min(at, handlers.length - 1)];
    at += 1;
    handler?.(request, response, body);
  };
}

overEach('without retry, a refusal for the moment stands', async (t, client) => {
  const { broker, queryMesh } = await setUp(t, client);
  broker.onQuery(script(unavailable(), rows));
  await t.rejects(queryMesh('SELECT 1'), { code: 'QUERYMESH_UNAVAILABLE' });
  t.equal(broker.requests.length, 1);
});

overEach(
  'with retry, it is sent again after random pauses that double, as often as allowed',
  async (t, client) => {
    const { broker, queryMesh, pausesMs } = await setUp(t, client);
    const notReady = answerJson(503, { code: 'APPLICATION_IDENTITY_NOT_READY', message: '' });
    broker.onQuery(script(unavailable(), notReady, unavailable(), rows));
    const result = await queryMesh('SELECT 1', { retry: { attempts: 4, maxDelayMs: 150 } });
    t.strictSame(result.rows, [['BRAZIL', 1]]);
    // Half of 100, of 200 cut to 150, of 400 cut to 150.
    t.strictSame(pausesMs, [50, 75, 75]);
    broker.onQuery(unavailable());
    broker.requests.length = 0;
    await t.rejects(queryMesh('SELECT 1', { retry: { attempts: 3, maxDelayMs: 150 } }), {
      code: 'QUERYMESH_UNAVAILABLE',
    });
    t.equal(broker.requests.length, 3);
  },
);

overEach('the runtime’s retry holds where a call says nothing', async (t, client) => {
  const { broker, queryMesh } = await setUp(t, { ...client, retry: { attempts: 2, maxDelayMs: 0 } });
  broker.onQuery(script(unavailable(), rows));
  t.equal((await queryMesh('SELECT 1')).rows.length, 1);
  broker.onQuery(script(unavailable(), rows));
  await t.rejects(queryMesh('SELECT 1', { retry: { attempts: 1, maxDelayMs: 0 } }));
});

overEach('Retry-After is waited for; one that asks for too long ends it', async (t, client) => {
  const { broker, queryMesh, pausesMs } = await setUp(t, client);
  const retry = { attempts: 3, maxDelayMs: 5_000 };
  broker.onQuery(script(unavailable({ 'retry-after': '2' }), rows));
  await queryMesh('SELECT 1', { retry });
  t.strictSame(pausesMs, [2_000]);
  broker.onQuery(script(unavailable({ 'retry-after': '6' }), rows));
  await t.rejects(queryMesh('SELECT 1', { retry }), { headers: { 'retry-after': '6' } } as never);
  t.strictSame(pausesMs, [2_000]);
});

overEach('a Retry-After of any length or form is respected', async (t, client) => {
  const { broker, queryMesh, pausesMs } = await setUp(t, client);
  const retry = { attempts: 3, maxDelayMs: 5_000 };
  for (const tooLong of ['9999999', '9'.repeat(400), 'Mon, 30 Nov 2026 13:00:00 GMT']) {
    const date = 'Mon, 30 Nov 2026 12:00:00 GMT';
    const sent = broker.requests.length;
    broker.onQuery(script(unavailable({ 'retry-after': tooLong, date }), rows));
    await t.rejects(queryMesh('SELECT 1', { retry }), { code: 'QUERYMESH_UNAVAILABLE' }, tooLong);
    t.equal(broker.requests.length, sent + 1, 'it is not sent again');
  }
  const headers = { 'retry-after': 'Mon, 30 Nov 2026 12:00:03 GMT', date: 'Mon, 30 Nov 2026 12:00:00 GMT' };
  broker.onQuery(script(unavailable(headers), rows));
  await queryMesh('SELECT 1', { retry });
  t.strictSame(pausesMs, [3_000]);
});

overEach('a Retry-After of an answer without Date is counted from now', async (t, client) => {
  const { broker, queryMesh, pausesMs } = await setUp(t, client);
  const inTwoSeconds = unavailable({ 'retry-after': new Date(NOW_MS + 2_000).toUTCString() });
  broker.onQuery(
    script((request, response, body) => {
      response.sendDate = false;
      inTwoSeconds(request, response, body);
    }, rows),
  );
  await queryMesh('SELECT 1', { retry: { attempts: 2, maxDelayMs: 5_000 } });
  t.strictSame(pausesMs, [2_000]);
});

overEach('no pause reaches past the time-out of the call', async (t, client) => {
  const { broker, queryMesh, pausesMs } = await setUp(t, client);
  broker.onQuery(script(unavailable({ 'retry-after': '2' }), rows));
  await t.rejects(queryMesh('SELECT 1', { timeoutMs: 2_000, retry: { attempts: 2, maxDelayMs: 9_000 } }), {
    code: 'QUERYMESH_UNAVAILABLE',
  });
  t.strictSame(pausesMs, []);
});

overEach('nothing but a 503 is sent again', async (t, client) => {
  const { broker, queryMesh } = await setUp(t, { ...client, retry: { attempts: 5, maxDelayMs: 0 } });
  const others: [number, string][] = [
    [400, 'VALIDATION_FAILED'],
    [401, 'IDENTITY_ASSERTION_INVALID'],
    [401, 'USER_SESSION_REQUIRED'],
    [403, 'QUERYMESH_ACCESS_DENIED'],
    [409, 'QUERYMESH_NOT_ENABLED'],
    [422, 'QUERYMESH_QUERY_FAILED'],
    [502, 'QUERYMESH_QUERY_FAILED'],
    [500, 'UNKNOWN'],
  ];
  for (const [status, code] of others) {
    broker.requests.length = 0;
    broker.onQuery(answerJson(status, { code, message: '' }));
    await t.rejects(queryMesh('SELECT 1'));
    t.equal(broker.requests.length, 1, code);
  }
});

overEach('a query that may have run is not sent again; one that was never sent is', async (t, client) => {
  const retry = { attempts: 3, maxDelayMs: 0 };
  const { broker, queryMesh, pausesMs } = await setUp(t, { ...client, retry });
  broker.onQuery((request) => request.socket.destroy());
  await t.rejects(queryMesh('SELECT 1'), { code: 'QUERYMESH_UNAVAILABLE' });
  t.equal(broker.requests.length, 1);
  broker.onQuery((_request, response) => response.writeHead(302, { location: '/elsewhere' }).end());
  await t.rejects(queryMesh('SELECT 1'), { code: 'QUERYMESH_UNAVAILABLE' });
  t.equal(broker.requests.length, 2);
  t.strictSame(pausesMs, []);

  const gone = await setUp(t, { ...client, retry });
  await gone.broker.close();
  await t.rejects(gone.queryMesh('SELECT 1'), {
    code: 'QUERYMESH_UNAVAILABLE',
    cause: { message: 'ECONNREFUSED' },
  });
  t.strictSame(gone.pausesMs, [0, 0]);
});

overEach('an abort during the pause ends it', async (t, client) => {
  const controller = new AbortController();
  const { broker, queryMesh } = await setUp(t, {
    ...client,
    wait: async (_milliseconds, signal) => {
      controller.abort(new Error('enough'));
      t.equal(signal.aborted, true);
    },
  });
  broker.onQuery(unavailable());
  const query = queryMesh('SELECT 1', { signal: controller.signal, retry: { attempts: 9, maxDelayMs: 0 } });
  await t.rejects(query, { code: 'QUERYMESH_ABORTED', cause: { message: 'enough' } });
  t.equal(broker.requests.length, 1);
});

overEach('wrong retry options are refused, by name', async (t, client) => {
  const { queryMesh } = await setUp(t, client);
  for (const retry of [
    {},
    null,
    true,
    { attempts: 0, maxDelayMs: 1 },
    { attempts: 11, maxDelayMs: 1 },
    { attempts: 1.5, maxDelayMs: 1 },
    { attempts: 2 },
    { attempts: 2, maxDelayMs: -1 },
    { attempts: 2, maxDelayMs: 60_001 },
    { attempts: 2, maxDelayMs: Number.NaN },
  ]) {
    await t.rejects(queryMesh('SELECT 1', { retry: retry as never }), {
      code: 'VALIDATION_FAILED',
      message: /^retry /,
    });
    t.throws(() => createRuntime({ env: environment([key]), retry: retry as never }), {
      code: 'CONFIGURATION_INVALID',
      message: /retry: (attempts|maxDelayMs)/,
    });
  }
});

overEach(
  'so many queries at once, so many waiting in line, and one more is refused at once',
  async (t, client) => {
    const { broker, queryMesh } = await setUp(t, { ...client, maxConcurrentQueries: 2, maxQueuedQueries: 1 });
    const held: (() => void)[] = [];
    let arrived: () => void = () => undefined;
    const two = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    broker.onQuery((request, response, body) => {
      held.push(() => rows(request, response, body));
      if (held.length === 2) arrived();
    });
    const first = queryMesh('SELECT 1');
    const second = queryMesh('SELECT 2');
    const third = queryMesh('SELECT 3');
    await t.rejects(queryMesh('SELECT 4'), { code: 'QUERYMESH_UNAVAILABLE', statusCode: 503 });
    await two;
    t.equal(broker.requests.length, 2, 'the third waits');
    broker.onQuery(rows);
    for (const release of held) release();
    await Promise.all([first, second, third]);
    t.strictSame(
      broker.requests.map((request) => JSON.parse(request.body).sql),
      ['SELECT 1', 'SELECT 2', 'SELECT 3'],
    );
  },
);

overEach(
  'nobody waits in line for longer than allowed, nor past an abort, and the place is not lost',
  async (t, client) => {
    const { broker, queryMesh } = await setUp(t, { ...client, maxConcurrentQueries: 1, maxQueueMs: 20 });
    let release: () => void = () => undefined;
    const asked = new Promise<void>((resolve) => {
      broker.onQuery((request, response, body) => {
        release = () => rows(request, response, body);
        resolve();
      });
    });
    const first = queryMesh('SELECT 1');
    await asked;
    await t.rejects(queryMesh('SELECT 2'), { code: 'QUERYMESH_UNAVAILABLE' });
    const controller = new AbortController();
    const aborted = t.rejects(queryMesh('SELECT 3', { signal: controller.signal }), {
      code: 'QUERYMESH_ABORTED',
    });
    controller.abort();
    await aborted;
    await t.rejects(queryMesh('SELECT 4', { timeoutMs: 5 }), { code: 'QUERYMESH_TIMEOUT' });
    broker.onQuery(rows);
    release();
    await first;
    t.equal((await queryMesh('SELECT 5')).rows.length, 1);
  },
);

overEach('a query that fails gives its place back', async (t, client) => {
  const { broker, queryMesh } = await setUp(t, { ...client, maxConcurrentQueries: 1, maxQueuedQueries: 0 });
  for (const handler of [unavailable(), answerJson(200, {}), answerJson(422, {})]) {
    broker.onQuery(handler);
    await t.rejects(queryMesh('SELECT 1'));
  }
  broker.onQuery(rows);
  t.equal((await queryMesh('SELECT 1')).rows.length, 1);
});
