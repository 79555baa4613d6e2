// The engine is internal to @nn-runtime/dev: its door is the broker. What only the engine can show, each type
// and its JSON text, is asked of the built file.
import t from 'tap';
import { createSqlEngine } from '../../packages/dev/dist/engine.js';

const engine = await createSqlEngine();
t.teardown(() => engine.close());

/** Expression, Trino type, JSON text of the value. */
const rows: [sql: string, type: string, json: string][] = [
  ['true', 'boolean', 'true'],
  ['CAST(NULL AS boolean)', 'boolean', 'null'],
  ['NULL', 'unknown', 'null'],
  ['CAST(-128 AS tinyint)', 'tinyint', '-128'],
  ['CAST(32767 AS smallint)', 'smallint', '32767'],
  ['CAST(255 AS utinyint)', 'smallint', '255'],
  ['7', 'integer', '7'],
  ['7/2', 'integer', '3'],
  ['-7/2', 'integer', '-3'],
  ['CAST(65535 AS usmallint)', 'integer', '65535'],
  ['CAST(4294967295 AS uinteger)', 'bigint', '4294967295'],
  ['9223372036854775807', 'bigint', '9223372036854775807'],
  ["CAST('-9223372036854775808' AS bigint)", 'bigint', '-9223372036854775808'],
  ["CAST('18446744073709551615' AS ubigint)", 'decimal(20, 0)', '"18446744073709551615"'],
  ["CAST('170141183460469231' AS hugeint)", 'bigint', '170141183460469231'],
  [
    "CAST('12345678901234567890123456789012345678' AS hugeint)",
    'decimal(38, 0)',
    '"12345678901234567890123456789012345678"',
  ],
  ["CAST('12345678901234567890' AS bignum)", 'decimal(38, 0)', '"12345678901234567890"'],
  ["CAST('0.1' AS real)", 'real', '0.1'],
  ["CAST('16777216' AS real)", 'real', '1.6777216E7'],
  ["CAST('3.4028235e38' AS real)", 'real', '3.4028235E38'],
  ["CAST('-0.0' AS real)", 'real', '-0.0'],
  ["CAST('NaN' AS real)", 'real', '"NaN"'],
  ['CAST(2 AS double)', 'double', '2.0'],
  ['CAST(0 AS double)', 'double', '0.0'],
  ["CAST('-0.0' AS double)", 'double', '-0.0'],
  ["CAST('1e22' AS double)", 'double', '1.0E22'],
  ["CAST('-1.5e-7' AS double)", 'double', '-1.5E-7'],
  ["CAST('0.001' AS double)", 'double', '0.001'],
  ["CAST('0.000999' AS double)", 'double', '9.99E-4'],
  ["CAST('9999999.5' AS double)", 'double', '9999999.5'],
  ["CAST('10000000' AS double)", 'double', '1.0E7'],
  ["CAST('5e-324' AS double)", 'double', '5.0E-324'],
  ["CAST('1.7976931348623157e308' AS double)", 'double', '1.7976931348623157E308'],
  ['nan()', 'double', '"NaN"'],
  ['infinity()', 'double', '"Infinity"'],
  ['-infinity()', 'double', '"-Infinity"'],
  ['1.50', 'decimal(3, 2)', '"1.50"'],
  ["CAST('-0.05' AS decimal(10, 2))", 'decimal(10, 2)', '"-0.05"'],
  ["CAST('7' AS decimal(38, 0))", 'decimal(38, 0)', '"7"'],
  [
    "CAST('-123456789012345678901234567.12345678901' AS decimal(38, 11))",
    'decimal(38, 11)',
    '"-123456789012345678901234567.12345678901"',
  ],
  ["'it''s \"東京\" 😀 \\'", 'varchar', '"it\'s \\"東京\\" 😀 \\\\"'],
  ["''", 'varchar', '""'],
  // U+FEFF at the beginning, short and long (DuckDB keeps them apart), and inside of what holds texts.
  ['chr(65279)', 'varchar', '"\ufeff"'],
  ["chr(65279) || chr(65279) || 'a' || chr(65279)", 'varchar', '"\ufeff\ufeffa\ufeff"'],
  ["chr(65279) || 'longer than twelve bytes'", 'varchar', '"\ufefflonger than twelve bytes"'],
  ["[chr(65279) || 'a']", 'array(varchar)', '["\ufeffa"]'],
  ["MAP {chr(65279) || 'k': chr(65279) || 'v'}", 'map(varchar, varchar)', '{"\ufeffk":"\ufeffv"}'],
  ["{x: chr(65279) || 'a'}", 'row(x varchar)', '["\ufeffa"]'],
  ["array_value(chr(65279) || 'a')", 'array(varchar)', '["\ufeffa"]'],
  ["encode(chr(65279) || 'a')", 'varbinary', '"77u/YQ=="'],
  ["CAST('a' AS varchar(5))", 'varchar', '"a"'],
  ["CAST('x' AS enum('x', 'y'))", 'varchar', '"x"'],
  ["CAST('101' AS bit)", 'varchar', '"101"'],
  ['CAST(\'{"a":1}\' AS json)', 'json', '"{\\"a\\":1}"'],
  ["from_hex('65683f')", 'varbinary', '"ZWg/"'],
  ["from_hex('')", 'varbinary', '""'],
  ["DATE '2001-08-22'", 'date', '"2001-08-22"'],
  ["DATE '1969-12-31'", 'date', '"1969-12-31"'],
  ["DATE '2000-02-29'", 'date', '"2000-02-29"'],
  ["DATE '12020-01-01'", 'date', '"+12020-01-01"'],
  ["DATE '0001-01-01'", 'date', '"0001-01-01"'],
  ["DATE '0001-01-01' - 1", 'date', '"0000-12-31"'],
  ["DATE '0001-01-01' - 367", 'date', '"-0001-12-31"'],
  ["TIME '01:02:03'", 'time(6)', '"01:02:03.000000"'],
  ["TIME '23:59:59.999999'", 'time(6)', '"23:59:59.999999"'],
  ["CAST('01:02:03.123456789' AS time_ns)", 'time(9)', '"01:02:03.123456789"'],
  ["CAST('01:02:03+02' AS time with time zone)", 'time(6) with time zone', '"01:02:03.000000+02:00"'],
  ["CAST('01:02:03-08:30' AS time with time zone)", 'time(6) with time zone', '"01:02:03.000000-08:30"'],
  ["CAST('1969-12-31 23:59:59' AS timestamp_s)", 'timestamp(0)', '"1969-12-31 23:59:59"'],
  ["CAST('2020-06-10 15:55:23.383' AS timestamp_ms)", 'timestamp(3)', '"2020-06-10 15:55:23.383"'],
  ["TIMESTAMP '1969-12-31 23:59:59.5'", 'timestamp(6)', '"1969-12-31 23:59:59.500000"'],
  [
    "CAST('1969-12-31 23:59:59.999999999' AS timestamp_ns)",
    'timestamp(9)',
    '"1969-12-31 23:59:59.999999999"',
  ],
  [
    "CAST('2001-08-22 03:04:05.321 America/New_York' AS timestamp with time zone)",
    'timestamp(6) with time zone',
    '"2001-08-22 07:04:05.321000 UTC"',
  ],
  [
    "CAST('2020-01-01 00:00:00' AS timestamp with time zone)",
    'timestamp(6) with time zone',
    '"2020-01-01 00:00:00.000000 UTC"',
  ],
  ["INTERVAL '14' MONTH", 'interval year to month', '"1-2"'],
  ["INTERVAL '-14' MONTH", 'interval year to month', '"-1-2"'],
  ["INTERVAL '2' DAY + INTERVAL '3' HOUR", 'interval day to second', '"2 03:00:00.000"'],
  ["INTERVAL '-36' HOUR", 'interval day to second', '"-1 12:00:00.000"'],
  ["INTERVAL '0' DAY", 'interval day to second', '"0 00:00:00.000"'],
  ["CAST('12151fd2-7586-11e9-8f9e-2a86e4085a59' AS uuid)", 'uuid', '"12151fd2-7586-11e9-8f9e-2a86e4085a59"'],
  ['ARRAY[1, NULL]', 'array(integer)', '[1,null]'],
  ["ARRAY[ARRAY['a'], ARRAY[]]", 'array(array(varchar))', '[["a"],[]]'],
  ['CAST(ARRAY[1, 2] AS bigint[2])', 'array(bigint)', '[1,2]'],
  ['ARRAY[nan(), 1e22]', 'array(double)', '["NaN",1.0E22]'],
  ["MAP(ARRAY[2, 1], ARRAY['x', NULL])", 'map(integer, varchar)', '{"2":"x","1":null}'],
  ["MAP(ARRAY['a\"b'], ARRAY[1.5])", 'map(varchar, decimal(2, 1))', '{"a\\"b":"1.5"}'],
  ['MAP(ARRAY[true], ARRAY[9223372036854775807])', 'map(boolean, bigint)', '{"true":9223372036854775807}'],
  ["MAP(ARRAY[DATE '2020-01-01'], ARRAY[1])", 'map(date, integer)', '{"2020-01-01":1}'],
  ["ROW(1, 'b')", 'row(integer, varchar)', '[1,"b"]'],
  ['ROW(ROW(1, 2), 3)', 'row(row(integer, integer), integer)', '[[1,2],3]'],
  ["ARRAY[ROW(1, 'a'), NULL, ROW(NULL, 'c')]", 'array(row(integer, varchar))', '[[1,"a"],null,[null,"c"]]'],
  [`CAST(ROW(1, 'b') AS ROW(x bigint, "a b" varchar))`, 'row(x bigint, "a b" varchar)', '[1,"b"]'],
  [`{'__proto__': 1, 'x': 2}`, 'row(__proto__ integer, x integer)', '[1,2]'],
  ["MAP(ARRAY['k'], ARRAY[{'a': 1, 'b': 'x'}])", 'map(varchar, row(a integer, b varchar))', '{"k":[1,"x"]}'],
];

for (const [expression, type, json] of rows) {
  t.test(`${expression} is ${type} and written ${json}`, async (t) => {
    const result = await engine.query(`SELECT ${expression} AS v`, { maxRows: 10 });
    t.same(result, { columns: [{ name: 'v', type }], rowsJson: `[[${json}]]`, rowCount: 1 });
    t.doesNotThrow(() => JSON.parse(result.rowsJson));
  });
}

t.test('a value that Trino has no form for is an error, not another value', async (t) => {
  const refused: [sql: string, message: RegExp][] = [
    ["SELECT CAST('170141183460469231731687303715884105727' AS hugeint)", /38 digits/],
    ["SELECT CAST('infinity' AS date)", /infinite date/],
    ["SELECT CAST('-infinity' AS timestamp)", /infinite timestamp/],
    ["SELECT INTERVAL '1' MONTH + INTERVAL '1' DAY", /months and of days/],
    ["VALUES (INTERVAL '1' MONTH), (INTERVAL '1' DAY)", /months and of days/],
    ["SELECT CAST('24:00:00' AS time)", /24:00:00/],
    ['SELECT MAP(ARRAY[ARRAY[1]], ARRAY[1])', /array, map or row keys/],
    ["SELECT MAP(ARRAY[1], ARRAY[ROW(1, 'a')])", /without field names/],
  ];
  for (const [sql, message] of refused) {
    await t.rejects(engine.query(sql, { maxRows: 10 }), { code: 'QUERY_FAILED', message }, sql);
  }
});

t.test('a sum over bigint is a bigint as in Trino, until one value does not fit', async (t) => {
  const ask = async (sql: string) => {
    const { columns, rowsJson } = await engine.query(sql, { maxRows: 10 });
    return [columns[0]?.type, rowsJson];
  };
  t.same(await ask('SELECT sum(nationkey) FROM tpch.tiny.nation'), ['bigint', '[[300]]']);
  t.same(await ask('SELECT sum(nationkey) FROM tpch.tiny.nation WHERE false'), ['bigint', '[[null]]']);
  t.same(await ask('SELECT sum(9223372036854775807) FROM range(2)'), [
    'decimal(38, 0)',
    '[["18446744073709551614"]]',
  ]);
  t.same(
    await ask(
      "SELECT x FROM (VALUES (CAST('1' AS hugeint)), (CAST('18446744073709551616' AS hugeint))) t(x) ORDER BY 1",
    ),
    ['decimal(38, 0)', '[["1"],["18446744073709551616"]]'],
  );
});

t.test('an interval of zero follows the other intervals of its column', async (t) => {
  const result = await engine.query("VALUES (INTERVAL '0' MONTH), (INTERVAL '3' MONTH)", { maxRows: 10 });
  t.same(result.columns, [{ name: '_col0', type: 'interval year to month' }]);
  t.equal(result.rowsJson, '[["0-0"],["0-3"]]');
});

t.test('an expression without a name is called by its place, and its text goes nowhere', async (t) => {
  const names = async (sql: string) =>
    (await engine.query(sql, { maxRows: 100 })).columns.map(({ name }) => name);
  t.same(await names("SELECT 7/2, count(*), max(name) AS m, 'canary' FROM tpch.tiny.nation"), [
    '_col0',
    '_col1',
    'm',
    '_col3',
  ]);
  t.same(await names('SELECT n.name, n.regionkey + 1 FROM tpch.tiny.nation n'), ['name', '_col1']);
  t.same(await names("SELECT 1, r.*, 'canary', 2 AS z FROM tpch.tiny.region r"), [
    '_col0',
    'regionkey',
    'name',
    'comment',
    '_col4',
    'z',
  ]);
  t.same(await names('SELECT 1 UNION SELECT 2'), ['_col0']);
  t.same(await names("VALUES (1, 'canary')"), ['_col0', '_col1']);
  t.same(await names('SELECT * FROM (SELECT \'canary\', 1 AS "Total €", count(*))'), [
    '_col0',
    'Total €',
    '_col2',
  ]);
  t.same(await names('WITH a AS (SELECT count(*) FROM tpch.tiny.region) SELECT * FROM a'), ['_col0']);
  t.same(await names('SELECT * FROM (VALUES (1, 2)) t(a, col1)'), ['a', 'col1']);
  t.same(await names('SELECT 1 AS a, 2 AS a'), ['a', 'a'], 'two columns may have one name');
});

t.test("Trino's daily functions that DuckDB calls otherwise work", async (t) => {
  const value = async (expression: string) =>
    (await engine.query(`SELECT ${expression}`, { maxRows: 10 })).rowsJson.slice(2, -2);
  t.equal(await value('approx_distinct(x) FROM (VALUES (1), (2), (2)) t(x)'), '2');
  t.equal(
    await value("date_add('month', 1, TIMESTAMP '2020-01-31 00:00:00')"),
    '"2020-02-29 00:00:00.000000"',
  );
  t.equal(await value("regexp_like('abc', 'b.')"), 'true');
  t.equal(await value(`json_extract_scalar('{"a":{"b":"x"}}', '$.a.b')`), '"x"');
  t.equal(await value('from_unixtime(0)'), '"1970-01-01 00:00:00.000000 UTC"');
  t.equal(await value("to_unixtime(TIMESTAMP '1970-01-01 00:00:01')"), '1.0');
  t.equal(await value("day_of_week(DATE '2020-01-05')"), '7', 'Sunday is 7');
  t.equal(await value('sequence(1, 7, 3)'), '[1,4,7]');
  t.equal(await value('count_if(x > 1) FROM (VALUES (1), (2), (3)) t(x)'), '2');
  t.equal(await value("element_at(MAP(ARRAY[1], ARRAY['a']), 1)"), '"a"');
  t.equal(await value("cardinality(ARRAY[1, 2]) + cardinality(MAP(ARRAY[1], ARRAY['a']))"), '3');
});
