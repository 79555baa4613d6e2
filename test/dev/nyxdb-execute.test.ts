import t from 'tap';
import { engine } from './fixtures/wire.js';

/** The example, for every test that changes nothing of it. */
const example = await engine(t);
const view = '7c1f4f0a-3a52-4c0e-9a35-0d1c6b1f2e01';

t.test('the example: my_fills gives a person their own fills of one instrument', async (t) => {
  const { as } = example;
  t.same(await (await as('local-ana')).ask(0x0b, 'my_fills\0BTC-USD'), [
    0,
    'fill_id\tinstrument\tside\tquantity\tprice\texecuted_at\n' +
      '3\tBTC-USD\tsell\t4.7500\t64011.00\t2026-11-30 09:03:00.000000\n' +
      '6\tBTC-USD\tbuy\t7.5000\t64022.00\t2026-11-30 09:06:00.000000\n' +
      '9\tBTC-USD\tsell\t3.2500\t64033.00\t2026-11-30 09:09:00.000000\n',
  ]);
  const [, nameless] = await (await as('local-e27c91d3-nameless')).ask(0x0b, 'my_fills\0ETH-USD');
  t.match(nameless, /\n19\tETH-USD\t.*\n22\tETH-USD\t.*\n25\tETH-USD\t.*\n$/);
});

t.test('an extra value makes the parameters invalid and overrides no claim', async (t) => {
  const { as } = example;
  const wire = await as('local-ana');
  for (const payload of [
    'my_fills',
    'my_fills\0BTC-USD\x009d40f2b8-bruno',
    'my_fills\0BTC-USD\0',
    'my_fills\0BTC-USD\0\0',
  ])
    t.same(await wire.ask(0x0b, payload), [1, 'invalid parameter'], JSON.stringify(payload));
});

t.test('parameters are validated against their types', async (t) => {
  const types = ['VARCHAR', 'BIGINT', 'DOUBLE', 'BOOLEAN', 'DATE', 'TIMESTAMP'] as const;
  for (const type of types)
    await example.nyxdb.publish({
      name: `echo_${type}`,
      using: 'app_sessions',
      parameters: [{ name: 'x', type }],
      sql: 'SELECT $x AS x, typeof($x) AS type',
    });
  const wire = await example.as('local-ana');
  const taken: [(typeof types)[number], string, string][] = [
    ['VARCHAR', '', ''],
    ['VARCHAR', "'; DROP TABLE fills; --", "'; DROP TABLE fills; --"],
    ['VARCHAR', 'çã\ufeff 🦉', 'çã\ufeff 🦉'],
    ['VARCHAR', '\ufeffa', '\ufeffa'],
    ['BIGINT', '9223372036854775807', '9223372036854775807'],
    ['BIGINT', '-9223372036854775808', '-9223372036854775808'],
    ['DOUBLE', '-1.5e3', '-1500.0'],
    ['BOOLEAN', 'true', 'true'],
    ['BOOLEAN', 'false', 'false'],
    ['DATE', '2024-02-29', '2024-02-29'],
    ['TIMESTAMP', '2026-11-30T23:59:59.125', '2026-11-30 23:59:59.125000'],
    ['TIMESTAMP', '1969-12-31 00:00:00', '1969-12-31 00:00:00.000000'],
  ];
  for (const [type, text, cell] of taken)
    t.same(await wire.ask(0x0b, `echo_${type}\0${text}`), [0, `x\ttype\n${cell}\t${type}\n`], text);
  const refused: [(typeof types)[number], string[]][] = [
    ['BIGINT', ['', ' 1', '1.5', '1e3', '+1', '0x1', '9223372036854775808', '-9223372036854775809', 'NULL']],
    ['DOUBLE', ['', 'NaN', 'Infinity', '.5', '1e999', '1,5', ' 1']],
    ['BOOLEAN', ['', 'TRUE', '1', 't', 'NULL']],
    ['DATE', ['', '2026-02-29', '2026-13-01', '2026-1-1', '2026-01-01 ', 'today']],
    ['TIMESTAMP', ['2026-01-01', '2026-01-01T24:00:00', '2026-01-01T00:00:00Z', '2026-02-30T00:00:00']],
  ];
  for (const [type, texts] of refused)
    for (const text of texts)
      t.same(await wire.ask(0x0b, `echo_${type}\0${text}`), [1, 'invalid parameter'], `${type} ${text}`);
});

t.test('NULL is an empty cell, and every type has the text of a QueryMesh cell', async (t) => {
  const { as } = await engine(t, {
    endpoints: [
      {
        name: 'values',
        using: 'app_sessions',
        sql: `SELECT NULL AS a, '' AS b, 'null' AS c, 12345678901234567890123::DECIMAL(38,0) AS d, 0.10::DECIMAL(9,2) AS e,
          true AS f, '2026-01-02'::DATE AS g, [1, 2] AS h, 1.5::DOUBLE AS i, 9007199254740993 AS j, 'a\\"b' AS k`,
      },
      { name: 'nothing', using: 'app_sessions', sql: 'SELECT 1 AS one WHERE false' },
      { name: 'empty_cell', using: 'app_sessions', sql: "SELECT '' AS only" },
    ],
  });
  const wire = await as('local-ana');
  t.same(await wire.ask(0x0b, 'values'), [
    0,
    'a\tb\tc\td\te\tf\tg\th\ti\tj\tk\n\t\tnull\t12345678901234567890123\t0.10\ttrue\t2026-01-02\t[1,2]\t1.5\t9007199254740993\ta\\"b\n',
  ]);
  t.same(await wire.ask(0x0b, 'nothing'), [0, 'one\n']);
  t.same(await wire.ask(0x0b, 'empty_cell'), [0, 'only\n\n']);
});

t.test('what the engine will not send, or cannot run', async (t) => {
  const { nyxdb, as } = await engine(t, {
    limits: { maxRows: 3 },
    endpoints: [
      { name: 'tab', using: 'app_sessions', sql: "SELECT 'a\tb' AS x" },
      { name: 'line', using: 'app_sessions', sql: "SELECT 'a\nb' AS x" },
      { name: 'return', using: 'app_sessions', sql: "SELECT 'a\rb' AS x" },
      { name: 'header', using: 'app_sessions', sql: 'SELECT 1 AS "a\tb"' },
      { name: 'three', using: 'app_sessions', sql: 'SELECT x FROM range(3) r(x)' },
      { name: 'four', using: 'app_sessions', sql: 'SELECT x FROM range(4) r(x)' },
      { name: 'wide', using: 'app_sessions', sql: "SELECT repeat('x', 16777216) AS x" },
      { name: 'divide', using: 'app_sessions', sql: "SELECT CAST('secret' AS BIGINT) AS x" },
      { name: 'gone', using: 'app_sessions', sql: 'SELECT * FROM fills' },
    ],
  });
  const wire = await as('local-ana');
  for (const name of ['tab', 'line', 'return', 'header'])
    t.same(await wire.ask(0x0b, name), [1, 'dev: cell not representable'], name);
  t.same(await wire.ask(0x0b, 'three'), [0, 'x\n0\n1\n2\n']);
  t.same(await wire.ask(0x0b, 'four'), [1, 'dev: result too large']);
  t.same(await wire.ask(0x0b, 'wide'), [1, 'dev: result too large']);
  t.same(await wire.ask(0x0b, 'divide'), [1, 'dev: query failed']);
  await nyxdb.write('DROP TABLE fills');
  t.same(await wire.ask(0x0b, 'gone'), [1, 'dev: query failed'], 'no table name, no SQL');
});

t.test('USING is no affinity: a session of another provider, with claims that fit', async (t) => {
  const { as } = await engine(t, {
    providers: [
      { name: 'app_sessions', claims: { user_id: 'VARCHAR', level: 'BIGINT' } },
      { name: 'partners', claims: { user_id: 'VARCHAR', level: 'BIGINT', extra: 'DATE' } },
      { name: 'texts', claims: { user_id: 'VARCHAR', level: 'VARCHAR' } },
      { name: 'few', claims: { user_id: 'VARCHAR' } },
    ],
    sessions: [
      { token: 'a', claims: { user_id: 'ua', level: '1' } },
      { provider: 'partners', token: 'b', claims: { user_id: 'ub', level: '2', extra: '2026-01-01' } },
      { provider: 'texts', token: 'c', claims: { user_id: 'uc', level: '3' } },
      { provider: 'few', token: 'd', claims: { user_id: 'ud' } },
    ],
    endpoints: [
      {
        name: 'who',
        using: 'app_sessions',
        claims: ['level', 'user_id'],
        sql: 'SELECT $user_id AS u, $level + 1 AS l',
      },
    ],
  });
  t.same(await (await as('a')).ask(0x0b, 'who'), [0, 'u\tl\nua\t2\n']);
  t.same(await (await as('b', 'partners')).ask(0x0b, 'who'), [0, 'u\tl\nub\t3\n']);
  t.same(await (await as('c', 'texts')).ask(0x0b, 'who'), [1, 'invalid parameter'], 'another type');
  t.same(await (await as('d', 'few')).ask(0x0b, 'who'), [1, 'invalid parameter'], 'a missing claim');
});

t.test('a view needs the grant of the role, by name and by UUID', async (t) => {
  const { nyxdb, as } = await engine(t, {
    sessions: [
      { token: 'auditor', claims: { user_id: 'u', tenant: 't', role: 'auditor' } },
      { token: 'proto', claims: { user_id: 'u', tenant: 't', role: 'constructor' } },
    ],
  });
  const member = await as('local-ana');
  const volumes = [
    0,
    'instrument\tfills\tquantity\nBTC-USD\t9\t42.7500\nETH-USD\t9\t38.2500\nSOL-USD\t9\t40.5000\n',
  ];
  for (const name of ['volumes', view, view.toUpperCase()])
    t.same(await member.ask(0x0b, name), volumes, name);
  for (const token of ['auditor', 'proto'])
    t.same(await (await as(token)).ask(0x0b, 'volumes'), [1, 'dev: not granted'], token);
  const definition = {
    name: 'volumes',
    id: view,
    parameters: [{ name: 'instrument', type: 'VARCHAR' }],
    sql: 'SELECT count(*) AS n FROM fills WHERE instrument = $instrument',
  } as const;
  await nyxdb.createView({ ...definition, grants: { auditor: ['read'], member: ['subscribe'] } });
  t.same(await (await as('auditor')).ask(0x0b, 'volumes\0BTC-USD'), [0, 'n\n9\n']);
  t.same(await (await as('auditor')).ask(0x0b, 'volumes'), [1, 'invalid parameter']);
  t.same(await member.ask(0x0b, `${view}\0BTC-USD`), [1, 'dev: not granted'], 'subscribe is not read');
  t.equal(nyxdb.dropView('volumes'), true);
  t.equal(nyxdb.dropView('volumes'), false);
  t.same(await member.ask(0x0b, view), [1, 'dev: unknown endpoint']);
});

t.test(
  'an endpoint comes before a view of its name, and consults no grant; the UUID names the view',
  async (t) => {
    const { nyxdb, as } = await engine(t);
    await nyxdb.createView({
      name: 'shared',
      id: '00000000-0000-4000-8000-00000000000a',
      sql: "SELECT 'view' AS kind",
      grants: { member: ['read'] },
    });
    const wire = await as('local-ana');
    t.same(await wire.ask(0x0b, 'shared'), [0, 'kind\nview\n']);
    await nyxdb.publish({ name: 'shared', using: 'app_sessions', sql: "SELECT 'endpoint' AS kind" });
    t.same(await wire.ask(0x0b, 'shared'), [0, 'kind\nendpoint\n']);
    t.same(await wire.ask(0x0b, '00000000-0000-4000-8000-00000000000a'), [0, 'kind\nview\n']);
    t.equal(nyxdb.drop('shared'), true);
    t.same(await wire.ask(0x0b, 'shared'), [0, 'kind\nview\n']);
    t.equal(nyxdb.drop('shared'), false);
  },
);

t.test('names are exact, and none is unknown in another way', async (t) => {
  const { as } = example;
  const wire = await as('local-ana');
  for (const name of ['', 'MY_FILLS', 'my_fills ', 'fills', 'my_fills;', '__proto__', 'toString'])
    t.same(await wire.ask(0x0b, name), [1, 'dev: unknown endpoint'], JSON.stringify(name));
});

t.test('definitions at fault are refused with a reason', async (t) => {
  const { nyxdb } = example;
  const endpoint = { name: 'e', using: 'app_sessions', sql: 'SELECT 1' };
  const x = { name: 'x', type: 'BIGINT' } as const;
  const cases: [object, RegExp][] = [
    [{ ...endpoint, using: 'none' }, /is USING none, which is no provider/],
    [{ ...endpoint, claims: ['level'] }, /app_sessions has no claim level/],
    [{ ...endpoint, parameters: [x, x] }, /declares a name twice/],
    [{ ...endpoint, parameters: [{ ...x, name: 'role' }], claims: ['role'] }, /declares a name twice/],
    [{ ...endpoint, parameters: [{ ...x, name: 'ROLE' }], claims: ['role'] }, /declares a name twice/],
    [{ ...endpoint, parameters: [x, { ...x, name: 'X' }] }, /declares a name twice/],
    [{ ...endpoint, parameters: [{ name: 'x', type: 'BLOB' }] }, /type/],
    [{ ...endpoint, name: '7c1f4f0a-3a52-4c0e-9a35-0d1c6b1f2e01' }, /must not look like a UUID/],
    [{ ...endpoint, name: 'a\0b' }, /no NUL/],
    [{ ...endpoint, sql: 'SELECT $x' }, /\$x is neither a parameter nor a claim/],
    [{ ...endpoint, sql: 'SELECT 1; SELECT 2' }, /one statement/],
    [{ ...endpoint, sql: 'DROP TABLE fills' }, /must be a SELECT/],
    [{ ...endpoint, sql: 'SELEC' }, /syntax error/],
    [{ ...endpoint, sql: "SELECT * FROM read_csv('/etc/passwd')" }, /disabled/],
    [{ ...endpoint, strem: true }, /strem/],
  ];
  for (const [definition, message] of cases)
    await t.rejects(nyxdb.publish(definition as typeof endpoint), { message }, String(message));
  const id = '00000000-0000-4000-8000-00000000000a';
  await nyxdb.createView({ name: 'a', id, sql: 'SELECT 1' });
  await t.rejects(nyxdb.createView({ name: 'b', id, sql: 'SELECT 1' }), /same id/);
  await t.rejects(nyxdb.createView({ name: 'b', id: 'x', sql: 'SELECT 1' }), /must be a UUID/);
  const twins = [x, { ...x, name: 'X' }];
  await t.rejects(
    nyxdb.createView({ name: 'b', id: id.replace('a', 'b'), sql: 'SELECT $x', parameters: twins }),
    /b declares a name twice/,
  );
});

t.test('write changes all or nothing, and what it changed is read', async (t) => {
  const { nyxdb, as } = await engine(t, {
    tables: ['CREATE TABLE notes (id BIGINT, text VARCHAR)', "INSERT INTO notes VALUES (1, 'one')"],
    endpoints: [{ name: 'notes', using: 'app_sessions', sql: 'SELECT * FROM notes ORDER BY id' }],
  });
  const wire = await as('local-ana');
  t.same(await wire.ask(0x0b, 'notes'), [0, 'id\ttext\n1\tone\n']);
  t.same(
    await wire.ask(0x0b, 'my_fills\0BTC-USD'),
    [1, 'dev: unknown endpoint'],
    'no example with own tables',
  );
  await nyxdb.write("INSERT INTO notes VALUES (2, 'two'); UPDATE notes SET text = 'uno' WHERE id = 1");
  t.same(await wire.ask(0x0b, 'notes'), [0, 'id\ttext\n1\tuno\n2\ttwo\n']);
  await t.rejects(nyxdb.write('DELETE FROM notes; SELECT * FROM nowhere'), /nowhere/);
  t.same(await wire.ask(0x0b, 'notes'), [0, 'id\ttext\n1\tuno\n2\ttwo\n']);
  await t.rejects(nyxdb.write("COPY notes TO '/tmp/notes.csv'"), /disabled/);
});
