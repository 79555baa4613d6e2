import { startPlatform } from '@nn-runtime/dev';
import t from 'tap';
import { engine, hex, id, request } from './fixtures/wire.js';

const revocation = hex('00000000000000000000000000000000 01 0000000c 61757468207265766f6b6564');
const claims = (user_id: string) => ({ user_id, tenant: 'org_local', role: 'member' });

t.test('every failing authentication is the same answer', async (t) => {
  const platform = await engine(t, {
    sessions: [
      { token: 'twice', claims: claims('a') },
      { token: 'twice', claims: claims('b') },
    ],
  });
  for (const payload of [
    'nowhere\0local-ana',
    'app_sessions\0nobody',
    'app_sessions\0twice',
    'app_sessions\0',
    'app_sessions',
    'app_sessions\0local-ana\0',
    '\0system\0root\0secret',
    '',
  ]) {
    const wire = await platform.open();
    t.same(await wire.ask(0x09, payload), [1, 'auth failed'], JSON.stringify(payload));
  }
});

t.test('an empty provider name selects the only provider, and none of several', async (t) => {
  const one = await engine(t);
  t.same(await (await one.open()).ask(0x09, '\0local-ana'), [0, 'authenticated\n']);
  const two = await engine(t, {
    providers: [
      { name: 'first', claims: { user_id: 'VARCHAR' } },
      { name: 'second', claims: { user_id: 'VARCHAR' } },
    ],
    sessions: [{ provider: 'first', token: 'token', claims: { user_id: 'u' } }],
  });
  t.same(await (await two.open()).ask(0x09, '\0token'), [1, 'auth failed']);
  t.same(await (await two.open()).ask(0x09, 'second\0token'), [1, 'auth failed']);
  t.same(await (await two.open()).ask(0x09, 'first\0token'), [0, 'authenticated\n']);
});

t.test('a connection authenticates once and keeps its principal', async (t) => {
  const platform = await engine(t);
  const wire = await platform.as('local-ana');
  const before = await wire.ask(0x0b, 'my_fills\0BTC-USD');
  t.equal(before[0], 0);
  t.same(await wire.ask(0x09, 'app_sessions\0nobody'), [1, 'auth failed']);
  t.same(await wire.ask(0x09, 'app_sessions\0local-bruno'), [1, 'auth failed']);
  t.same(await wire.ask(0x0b, 'my_fills\0BTC-USD'), before);
  const other = await platform.as('local-bruno');
  const [, rows] = await other.ask(0x0b, 'my_fills\0BTC-USD');
  t.not(rows, before[1], 'another person has other rows');

  const failed = await platform.open();
  t.same(await failed.ask(0x09, 'app_sessions\0nobody'), [1, 'auth failed']);
  t.same(await failed.ask(0x09, 'app_sessions\0local-ana'), [1, 'auth failed']);
});

t.test('requireAuth: nothing before authentication', async (t) => {
  const platform = await engine(t);
  const wire = await platform.open();
  for (const [op, payload] of [
    [0x0a, id(1)],
    [0x0b, 'my_fills\0BTC-USD'],
    [0x0c, 'my_fills_live\0BTC-USD'],
  ] as const)
    t.same(await wire.ask(op, payload), [1, 'dev: not authenticated']);
  t.same(await wire.ask(0x09, 'app_sessions\0nobody'), [1, 'auth failed']);
  t.same(await wire.ask(0x0b, 'my_fills\0BTC-USD'), [1, 'dev: not authenticated']);
});

t.test('requireAuth off: nobody may do what needs no claim and no role', async (t) => {
  const platform = await engine(t, {
    requireAuth: false,
    endpoints: [
      { name: 'count', using: 'app_sessions', sql: 'SELECT count(*) AS n FROM fills' },
      { name: 'mine', using: 'app_sessions', claims: ['user_id'], sql: 'SELECT $user_id AS me' },
    ],
  });
  const wire = await platform.open();
  t.same(await wire.ask(0x0b, 'count'), [0, 'n\n27\n']);
  t.same(await wire.ask(0x0b, 'mine'), [1, 'invalid parameter']);
  t.same(await wire.ask(0x0b, 'volumes'), [1, 'dev: not granted']);
  t.same(await wire.ask(0x0a, id(1)), [0, 'query_id\tcancel_requested\n0\t0\n']);
  await wire.authenticate('local-ana');
  t.same(await wire.ask(0x0b, 'mine'), [0, 'me\n5b1c7a0e-ana\n']);
});

t.test('a row that goes revokes its connections: a zero id, then the end', async (t) => {
  const { nyxdb, as, open } = await engine(t, {
    sessions: [
      { token: 'one', claims: claims('u') },
      { token: 'two', claims: claims('u') },
    ],
  });
  const wires = [await as('one'), await as('one', '')];
  const other = await as('two');
  t.equal(nyxdb.removeSession('one'), 1);
  for (const wire of wires) {
    t.same(await wire.next(), revocation);
    await wire.closed;
  }
  t.equal((await other.ask(0x0b, 'my_fills\0BTC-USD'))[0], 0, 'the same user by another row stays');
  t.same(await (await open()).ask(0x09, 'app_sessions\0one'), [1, 'auth failed']);
  t.equal(nyxdb.removeSession('one'), 0);
  t.throws(() => nyxdb.removeSession('one', 'nowhere'), TypeError);
});

t.test('a revoked request gets the revocation and no answer of its own', async (t) => {
  const { nyxdb, as } = await engine(t, {
    endpoints: [
      {
        name: 'endless',
        using: 'app_sessions',
        sql: 'SELECT count(*) FROM range(10000000) a, range(10000000) b',
      },
    ],
    sessions: [{ token: 'one', claims: claims('u') }],
  });
  const wire = await as('one');
  const control = await as('local-ana');
  wire.send(request(0x0b, id(7), 'endless'));
  // Cancelling nothing tells when the engine has begun: until then the answer is 0.
  while (nyxdb.stats().executions === 0) await control.ask(0x0a, id(9));
  nyxdb.removeSession('one');
  t.same(await wire.next(), revocation);
  await t.rejects(wire.next(), /closed/);
  // The client may see the end of its connection before the engine does: a round trip each time until both have.
  while (nyxdb.stats().executions > 0 || nyxdb.stats().connections > 1) await control.ask(0x0a, id(9));
  t.match(nyxdb.stats(), { executions: 0, connections: 1 });
});

t.test(
  'the platform: a signed-in person is a row, by the sid of the identity, until the session ends',
  async (t) => {
    const platform = await engine(t);
    const { identity } = await platform.signIn('ana@example.org');
    const payload = JSON.parse(Buffer.from(identity.split('.')[1] ?? '', 'base64url').toString('utf8'));
    const wire = await platform.as(payload.sid);
    const fixed = await platform.as('local-ana');
    t.same(
      await wire.ask(0x0b, 'my_fills\0ETH-USD'),
      await fixed.ask(0x0b, 'my_fills\0ETH-USD'),
      'the same person',
    );
    t.equal(platform.faults.endSession('ana@example.org'), 1);
    t.same(await wire.next(), revocation);
    await wire.closed;
    t.equal((await fixed.ask(0x0b, 'my_fills\0ETH-USD'))[0], 0);
    t.same(await (await platform.open()).ask(0x09, `app_sessions\0${payload.sid}`), [1, 'auth failed']);
  },
);

t.test('changed claims count for the next connection only', async (t) => {
  const { nyxdb, as } = await engine(t, {
    endpoints: [
      { name: 'who', using: 'app_sessions', claims: ['user_id', 'role'], sql: 'SELECT $user_id, $role' },
    ],
    sessions: [{ token: 'one', claims: claims('u') }],
  });
  const before = await as('one');
  nyxdb.updateSession({ token: 'one', claims: { user_id: 'v', tenant: 't', role: 'auditor' } });
  t.match((await before.ask(0x0b, 'who'))[1], /\nu\tmember\n$/);
  t.match((await (await as('one')).ask(0x0b, 'who'))[1], /\nv\tauditor\n$/);
  t.throws(
    () => nyxdb.updateSession({ token: 'unknown', claims: claims('u') }),
    new RangeError('nyxdb: no session has this token'),
  );
});

t.test('rows and providers that cannot be are refused, and quote no token', async (t) => {
  const refuses = async (nyxdb: Parameters<typeof engine>[1], message: RegExp) => {
    const error = await startPlatform({ apps: [{ id: 'app' }], nyxdb }).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    t.type(error, TypeError);
    t.match(String(error), message);
    t.notMatch(String((error as Error | undefined)?.stack), 's3cret');
  };
  await refuses({ providers: [{ name: 'p', claims: { role: 'VARCHAR' } }] }, /user_id must be a VARCHAR/);
  await refuses({ providers: [{ name: 'p', claims: { user_id: 'BIGINT' } }] }, /user_id must be a VARCHAR/);
  await refuses({ sessions: [{ token: 's3cret', claims: { user_id: 'u' } }] }, /must have the claims/);
  await refuses({ sessions: [{ token: 's3cret', claims: claims('s3cret') }] }, /must not be the token/);
  await refuses({ sessions: [{ token: 's3\0cret', claims: claims('u') }] }, /without NUL/);
  await refuses({ sessions: [{ token: 's3cret', provider: 'none', claims: claims('u') }] }, /no provider/);
  const typed = { name: 'p', claims: { user_id: 'VARCHAR', level: 'BIGINT' } } as const;
  await refuses(
    {
      providers: [typed],
      sessions: [{ provider: 'p', token: 's3cret', claims: { user_id: 'u', level: 'high' } }],
    },
    /the claim level .* must be a BIGINT/,
  );
  await refuses({ providers: [typed, typed] }, /two providers/);
});
