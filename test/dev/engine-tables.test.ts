// The engine is internal to @nn-runtime/dev: its door is the broker. See engine-types.test.ts.
import t from 'tap';
import { createSqlEngine } from '../../packages/dev/dist/engine.js';

const engine = await createSqlEngine();
t.teardown(() => engine.close());

const rows = async (sql: string) => (await engine.query(sql, { maxRows: 1_000 })).rowsJson;

t.test("the contract's own query gives 25 nations with their regions", async (t) => {
  const result = await engine.query('SELECT name, regionkey FROM tpch.tiny.nation', { maxRows: 1_000 });
  t.same(result, {
    columns: [
      { name: 'name', type: 'varchar' },
      { name: 'regionkey', type: 'bigint' },
    ],
    rowsJson:
      '[["ALGERIA",0],["ARGENTINA",1],["BRAZIL",1],["CANADA",1],["EGYPT",4],["ETHIOPIA",0],["FRANCE",3],' +
      '["GERMANY",3],["INDIA",2],["INDONESIA",2],["IRAN",4],["IRAQ",4],["JAPAN",2],["JORDAN",4],["KENYA",0],' +
      '["MOROCCO",0],["MOZAMBIQUE",0],["PERU",1],["CHINA",2],["ROMANIA",3],["SAUDI ARABIA",4],["VIETNAM",2],' +
      '["RUSSIA",3],["UNITED KINGDOM",3],["UNITED STATES",1]]',
    rowCount: 25,
  });
  t.equal(
    await rows('SELECT regionkey, name FROM tpch.tiny.region'),
    '[[0,"AFRICA"],[1,"AMERICA"],[2,"ASIA"],[3,"EUROPE"],[4,"MIDDLE EAST"]]',
  );
});

const tables: [name: string, rowCount: number, columns: string][] = [
  ['region', 5, 'regionkey bigint, name varchar, comment varchar'],
  ['nation', 25, 'nationkey bigint, name varchar, regionkey bigint, comment varchar'],
  [
    'supplier',
    100,
    'suppkey bigint, name varchar, address varchar, nationkey bigint, phone varchar, acctbal double, comment varchar',
  ],
  [
    'customer',
    1_500,
    'custkey bigint, name varchar, address varchar, nationkey bigint, phone varchar, acctbal double, mktsegment varchar, comment varchar',
  ],
  [
    'part',
    2_000,
    'partkey bigint, name varchar, mfgr varchar, brand varchar, type varchar, size integer, container varchar, retailprice double, comment varchar',
  ],
  ['partsupp', 8_000, 'partkey bigint, suppkey bigint, availqty integer, supplycost double, comment varchar'],
  [
    'orders',
    15_000,
    'orderkey bigint, custkey bigint, orderstatus varchar, totalprice double, orderdate date, orderpriority varchar, clerk varchar, shippriority integer, comment varchar',
  ],
  [
    'lineitem',
    60_175,
    'orderkey bigint, partkey bigint, suppkey bigint, linenumber integer, quantity double, extendedprice double, discount double, tax double, returnflag varchar, linestatus varchar, shipdate date, commitdate date, receiptdate date, shipinstruct varchar, shipmode varchar, comment varchar',
  ],
];

for (const [name, rowCount, columns] of tables) {
  t.test(`tpch.tiny.${name} has Trino's columns and as many rows as Trino's`, async (t) => {
    const result = await engine.query(`SELECT * FROM tpch.tiny.${name}`, { maxRows: rowCount });
    t.equal(result.rowCount, rowCount);
    t.equal(result.columns.map((column) => `${column.name} ${column.type}`).join(', '), columns);
    const cells: unknown[][] = JSON.parse(result.rowsJson);
    t.equal(cells.length, rowCount);
    t.equal(cells.flat().includes(null), false, 'no cell is null');
  });
}

t.test('every key is unique, and every reference finds its row', async (t) => {
  const keys = {
    region: 'regionkey',
    nation: 'nationkey',
    supplier: 'suppkey',
    customer: 'custkey',
    part: 'partkey',
    partsupp: 'partkey, suppkey',
    orders: 'orderkey',
    lineitem: 'orderkey, linenumber',
  };
  for (const [table, key] of Object.entries(keys)) {
    const sql = `SELECT ${key} FROM tpch.tiny.${table} GROUP BY ${key} HAVING count(*) > 1`;
    t.equal(await rows(sql), '[]', `${table} (${key})`);
  }
  const references: [from: string, to: string, key: string][] = [
    ['nation', 'region', 'regionkey'],
    ['supplier', 'nation', 'nationkey'],
    ['customer', 'nation', 'nationkey'],
    ['partsupp', 'part', 'partkey'],
    ['partsupp', 'supplier', 'suppkey'],
    ['orders', 'customer', 'custkey'],
    ['lineitem', 'orders', 'orderkey'],
    ['lineitem', 'partsupp', 'partkey, suppkey'],
  ];
  for (const [from, to, key] of references) {
    const sql = `SELECT count(*) FROM tpch.tiny.${from} WHERE (${key}) NOT IN (SELECT (${key}) FROM tpch.tiny.${to})`;
    t.equal(await rows(sql), '[[0]]', `${from} (${key}) in ${to}`);
  }
  t.equal(
    await rows(
      'SELECT count(*) FROM tpch.tiny.orders WHERE orderkey NOT IN (SELECT orderkey FROM tpch.tiny.lineitem)',
    ),
    '[[0]]',
    'every order has lines',
  );
});

t.test('orders hang together with their lines', async (t) => {
  const wrongTotals = `SELECT count(*) FROM tpch.tiny.orders o JOIN (
    SELECT orderkey, sum(extendedprice * (1 + tax) * (1 - discount)) AS total
    FROM tpch.tiny.lineitem GROUP BY orderkey) l ON o.orderkey = l.orderkey
    WHERE abs(o.totalprice - l.total) > 0.05`;
  t.equal(await rows(wrongTotals), '[[0]]');
  const wrongStatus = `SELECT count(*) FROM tpch.tiny.orders o JOIN (
    SELECT orderkey, min(linestatus) AS least, max(linestatus) AS most
    FROM tpch.tiny.lineitem GROUP BY orderkey) l ON o.orderkey = l.orderkey
    WHERE o.orderstatus <> CASE WHEN least = most THEN least ELSE 'P' END`;
  t.equal(await rows(wrongStatus), '[[0]]');
  const wrongDates = `SELECT count(*) FROM tpch.tiny.lineitem l JOIN tpch.tiny.orders o ON o.orderkey = l.orderkey
    WHERE shipdate <= orderdate OR receiptdate <= shipdate OR commitdate <= orderdate`;
  t.equal(await rows(wrongDates), '[[0]]');
  t.equal(await rows('SELECT DISTINCT orderstatus FROM tpch.tiny.orders ORDER BY 1'), '[["F"],["O"],["P"]]');
});

t.test('the data is the same at every start', async (t) => {
  const again = await createSqlEngine();
  t.teardown(() => again.close());
  // Asked of a fresh engine first: the large tables are there at their first mention.
  const sql = 'SELECT * FROM tpch.tiny."LINEITEM" WHERE partkey = 7 ORDER BY orderkey, linenumber';
  t.equal((await again.query(sql, { maxRows: 1_000 })).rowsJson, await rows(sql));
  t.not(await rows(sql), '[]');
});

t.test('a table is named by all three parts: no catalog or schema is the default', async (t) => {
  for (const name of ['nation', 'tiny.nation', 'tpch.nation', 'memory.main.nation']) {
    await t.rejects(rows(`SELECT * FROM ${name}`), { code: 'QUERY_FAILED' }, name);
  }
});
