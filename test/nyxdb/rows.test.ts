import { getEventListeners } from 'node:events';
import {
  createEndpointClient,
  type EndpointClient,
  type EndpointClientOptions,
  EndpointRowError,
} from '@nn-runtime/nyxdb/node';
import { type } from 'arktype';
import t, { type Test } from 'tap';
import * as v from 'valibot';
import { z } from 'zod';
import { startEngine } from './engine.js';
import { ManualClock, until } from './time.js';

/** A client whose every call is answered with this table. */
async function answering(
  t: Test,
  body: string,
  options: Partial<EndpointClientOptions> = {},
): Promise<EndpointClient> {
  const engine = await startEngine(t);
  const client = createEndpointClient({
    url: engine.url,
    authenticate: () => ({ provider: 'p', token: 't' }),
    ...options,
  });
  t.teardown(() => void client.close());
  void (async () => {
    const peer = await engine.ready();
    for (;;) peer.answer(await peer.next(), 0x00, body);
  })();
  return client;
}

t.test('any Standard Schema types and validates the rows: zod, valibot, arktype', async (t) => {
  const client = await answering(t, 'id\tpx\n1\t10.5\n2\t11\n');
  const byZod = await client.execute('a', [], { row: z.object({ id: z.coerce.number(), px: z.string() }) });
  const ids: number[] = byZod.objects().map((row) => row.id);
  t.same(ids, [1, 2]);
  t.same(byZod.rows, [
    ['1', '10.5'],
    ['2', '11'],
  ]);
  const byValibot = await client.execute('a', [], {
    row: v.object({ id: v.pipe(v.string(), v.transform(Number)), px: v.string() }),
  });
  t.same(byValibot.objects()[0], { id: 1, px: '10.5' });
  const byArktype = await client.execute('a', [], {
    row: type({ id: 'string.integer.parse', px: 'string' }),
  });
  t.same(byArktype.objects()[1], { id: 2, px: '11' });
});

t.test('an asynchronous schema is awaited', async (t) => {
  const client = await answering(t, 'id\n1\n');
  const row = z.object({ id: z.string().transform(async (id) => `late ${id}`) });
  t.same((await client.execute('a', [], { row })).objects(), [{ id: 'late 1' }]);
});

for (const [how, code] of [
  ['its signal', 'CANCELLED'],
  ['its time', 'DEADLINE_EXCEEDED'],
  ['close()', 'CLOSED'],
  ['another principal', 'AUTH_CHANGED'],
] as const)
  t.test(`a schema that never answers holds no call: ${how} ends it (R11)`, async (t) => {
    const clock = new ManualClock();
    const client = await answering(t, 'id\n1\n', { clock });
    const controller = new AbortController();
    let asked = false;
    const row = z.object({
      id: z.string().refine(() => {
        asked = true;
        return new Promise<boolean>(() => {});
      }),
    });
    const call = client.execute('a', [], { row, signal: controller.signal, timeoutMs: 2_000 });
    const refused = t.rejects(call, { code, outcome: 'completed' });
    await until(() => asked);
    if (how === 'its signal') controller.abort();
    else if (how === 'its time') clock.advance(2_000);
    else if (how === 'close()') await client.close();
    else client.setAuthenticate(() => ({ provider: 'p', token: 'other' }));
    await refused;
    t.equal(getEventListeners(controller.signal, 'abort').length, 0);
    await client.close();
    t.equal(clock.pending, 0);
  });

t.test('drain() waits for rows that are still validated', async (t) => {
  const client = await answering(t, 'id\n1\n');
  let answer = (_: boolean): void => {};
  const row = z.object({
    id: z.string().refine(() => new Promise<boolean>((resolve) => (answer = resolve))),
  });
  const first = client.execute('a', [], { row });
  const initial = answer;
  await until(() => answer !== initial);
  const drained = client.drain();
  answer(true);
  t.same((await first).objects(), [{ id: '1' }]);
  await drained;
});

t.test('what a schema throws goes to the caller, and nowhere else', async (t) => {
  const events: unknown[] = [];
  const client = await answering(t, 'id\nsecret\n', { onEvent: (event) => events.push(event) });
  const thrown = Object.assign(new Error('secret'), { code: 'secret' });
  const row = z.object({
    id: z.string().refine(() => {
      throw thrown;
    }),
  });
  await t.rejects(client.execute('a', [], { row }), thrown);
  await client.close();
  t.match(events, [{ name: 'socket-ready' }, { name: 'call-ended', sends: 1 }]);
  t.notMatch(JSON.stringify(events), /secret/);
});

t.test('timeoutMs is a number of milliseconds that a timer holds', async (t) => {
  const client = await answering(t, 'id\n1\n');
  for (const timeoutMs of [0, -1, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 31, '5', null, {}])
    await t.rejects(
      client.execute('a', [], { timeoutMs: timeoutMs as number }),
      TypeError,
      String(timeoutMs),
    );
  t.same((await client.execute('a', [], { timeoutMs: undefined })).rows, [['1']]);
});

t.test('a row that does not fit says where, never what', async (t) => {
  const client = await answering(t, 'id\tpx\n1\t2\nsecret\tsecret\n');
  const error = await client
    .execute('a', [], { row: z.object({ id: z.coerce.number(), px: z.coerce.number() }) })
    .then(
      () => t.fail('must reject'),
      (error) => error,
    );
  t.ok(error instanceof EndpointRowError);
  t.match(error, { name: 'EndpointRowError', code: 'ROW_INVALID', rowIndex: 1, paths: ['id', 'px'] });
  t.notMatch(`${error.stack}${JSON.stringify(error)}`, /secret/);
});

t.test('columns without a name of their own are read by position', async (t) => {
  for (const header of ['a\ta', 'a\t']) {
    const client = await answering(t, `${header}\n1\t2\n`);
    const result = await client.execute('x');
    t.same(result.rows, [['1', '2']]);
    t.throws(() => result.objects(), TypeError);
    await t.rejects(client.execute('x', [], { row: z.object({}) }), TypeError);
  }
});

t.test('a column named __proto__ is a column', async (t) => {
  const client = await answering(t, '__proto__\tconstructor\n1\t2\n');
  const [row] = (await client.execute('x')).objects();
  t.same(Object.entries(row ?? {}), [
    ['__proto__', '1'],
    ['constructor', '2'],
  ]);
  t.equal(Object.getPrototypeOf(row), Object.prototype);
});
