import { createEndpointClient, developmentProfile, type EndpointClientOptions } from '@nn-runtime/nyxdb/node';
import t, { type Test } from 'tap';
import { engine } from './fixtures/wire.js';

const endless = {
  name: 'endless',
  using: 'app_sessions',
  sql: 'SELECT count(*) FROM range(10000000) a, range(10000000) b',
};

function client(t: Test, url: string, token: string, options: Partial<EndpointClientOptions> = {}) {
  const client = createEndpointClient({
    url,
    authenticate: () => ({ provider: 'app_sessions', token }),
    ...options,
  });
  t.teardown(() => client.close());
  return client;
}

t.test('the client executes what the engine publishes', async (t) => {
  const { nyxdbUrl, nyxdb } = await engine(t);
  const ana = client(t, nyxdbUrl, 'local-ana');
  const { columns, rows } = await ana.execute('my_fills', ['ETH-USD']);
  t.same(columns, ['fill_id', 'instrument', 'side', 'quantity', 'price', 'executed_at']);
  t.same(
    rows.map(([id]) => id),
    ['1', '4', '7'],
  );
  await t.rejects(ana.execute('my_fills'), { code: 'APPLICATION_ERROR', reason: 'invalid-parameter' });
  await t.rejects(client(t, nyxdbUrl, 'nobody').execute('my_fills', ['x']), { code: 'AUTH_FAILED' });
  nyxdb.setFaults([{ on: 'exec', do: 'trailing' }]);
  await t.rejects(ana.execute('my_fills', ['ETH-USD']), { code: 'PROTOCOL_ERROR', reason: 'trailing-bytes' });
  t.equal((await ana.execute('my_fills', ['ETH-USD'])).rows.length, 3);
});

t.test('a call the client gives up ends in the engine too', async (t) => {
  const { nyxdbUrl, nyxdb, as } = await engine(t, { endpoints: [endless] });
  const control = await as('local-bruno');
  const ana = client(t, nyxdbUrl, 'local-ana');
  const abort = new AbortController();
  const call = ana.execute('endless', [], { signal: abort.signal });
  while (nyxdb.stats().executions === 0) await control.ask(0x0a, Buffer.alloc(16));
  abort.abort();
  await t.rejects(call, { code: 'CANCELLED' });
  while (nyxdb.stats().executions > 0) await control.ask(0x0a, Buffer.alloc(16));
  t.equal(nyxdb.stats().executions, 0);
});

t.test('the client follows a stream until its row goes', async (t) => {
  const { nyxdbUrl, nyxdb } = await engine(t);
  const ana = client(t, nyxdbUrl, 'local-ana', { profile: developmentProfile });
  const states = ana.subscribe('my_fills_live', ['BTC-USD'])[Symbol.asyncIterator]();
  const ids = (state: { rows: readonly (readonly string[])[] } | undefined) => state?.rows.map(([id]) => id);
  const first = await states.next();
  t.equal(first.value?.kind, 'snapshot');
  t.same(ids(first.value), ['9', '6', '3']);
  await nyxdb.write('DELETE FROM fills WHERE fill_id = 6');
  const second = await states.next();
  t.equal(second.value?.kind, 'delta');
  t.same(ids(second.value), ['9', '3']);
  nyxdb.removeSession('local-ana');
  await t.rejects(states.next(), { code: 'AUTH_REVOKED' });
});

t.test(
  'the development profile names what this engine answers, and what became of the call (N6)',
  async (t) => {
    const using = 'app_sessions';
    const { nyxdbUrl, nyxdb, as } = await engine(t, {
      limits: { maxRows: 3, subscriptionsPerUser: 1 },
      sessions: [{ token: 'auditor', claims: { user_id: 'u', tenant: 't', role: 'auditor' } }],
      endpoints: [
        endless,
        { name: 'tab', using, sql: "SELECT 'a\tb' AS x" },
        { name: 'four', using, sql: 'SELECT x FROM range(4) r(x)' },
        { name: 'cast', using, sql: "SELECT CAST('secret' AS BIGINT) AS x" },
        { name: 'live', using, stream: true, sql: 'SELECT 1 AS x' },
      ],
    });
    const connect = (token: string) =>
      client(t, nyxdbUrl, token, {
        profile: developmentProfile,
        random: { fill: (bytes) => bytes.fill(7), fraction: () => 0 },
      });
    const ana = connect('local-ana');
    const named = (reason: string, outcome: string) => ({
      code: 'APPLICATION_ERROR',
      reason,
      outcome,
      retryable: false,
    });
    await t.rejects(ana.execute('nobody'), named('unknown-endpoint', 'not-run'));
    await t.rejects(connect('auditor').execute('volumes'), named('not-granted', 'not-run'));
    await t.rejects(ana.execute('cast'), named('query-failed', 'unknown'));
    await t.rejects(ana.execute('four'), named('result-too-large', 'completed'));
    await t.rejects(ana.execute('tab'), named('cell-not-representable', 'completed'));
    await t.rejects(ana.execute('live'), named('invalid-parameter', 'not-run'));
    const live = ana.subscribe('live');
    await live.next();
    await t.rejects(ana.subscribe('live').next(), named('quota-exceeded', 'not-run'));
    await live.close();
    const control = await as('local-bruno');
    const call = t.rejects(ana.execute('endless'), named('cancelled', 'unknown'));
    while (nyxdb.stats().executions === 0) await control.ask(0x0a, Buffer.alloc(16));
    await control.ask(0x0a, Buffer.alloc(16, 7));
    await call;
  },
);
