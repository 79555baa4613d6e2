import type { BigintForm, Value } from '@nn-runtime/core';
import t from 'tap';
import { startQueryingPerson } from '../person.js';

const person = await startQueryingPerson();
t.teardown(() => person.close());

/** The value of the one cell of an answer. `json` is what stands in the body, byte for byte. */
async function cell(type: string, json: string, bigint?: BigintForm): Promise<Value | undefined> {
  person.answer(`{"columns":[{"name":"v","type":${JSON.stringify(type)}}],"rows":[[${json}]]}`);
  const result = await person.queryMesh('SELECT v', { bigint });
  return result.rows[0]?.[0];
}

const refused = (type: string, json: string, bigint?: BigintForm): Promise<unknown> =>
  cell(type, json, bigint).then(
    (value) => ({ value }),
    (error: unknown) => error,
  );

// Type, JSON in the body, value in the row: the table of Trino's encodings, row by row, and what a broker that writes anew may send.
const VALUES: readonly (readonly [string, string, Value])[] = [
  ['boolean', 'true', true],
  ['boolean', 'false', false],
  ['boolean', '"true"', true],
  ['boolean', '"false"', false],
  ['tinyint', '7', 7],
  ['smallint', '-32768', -32768],
  ['integer', '2147483647', 2147483647],
  ['integer', '"12"', 12],
  ['bigint', '0', 0],
  ['bigint', '9007199254740991', 9007199254740991],
  ['bigint', '-9007199254740991', -9007199254740991],
  ['bigint', '9007199254740992', 9007199254740992n],
  ['bigint', '9007199254740993', 9007199254740993n],
  ['bigint', '9223372036854775807', 9223372036854775807n],
  ['bigint', '-9223372036854775808', -9223372036854775808n],
  ['bigint', '"9223372036854775807"', 9223372036854775807n],
  ['bigint', '"-1"', -1],
  // Sixteen digits may be safe; more cannot be, unless zeros of a text lead.
  ['bigint', '1000000000000000', 1000000000000000],
  ['bigint', '-1000000000000000', -1000000000000000],
  ['bigint', '-9007199254740992', -9007199254740992n],
  ['bigint', '-9007199254740993', -9007199254740993n],
  ['bigint', '9999999999999999', 9999999999999999n],
  ['bigint', '10000000000000000', 10000000000000000n],
  ['bigint', '"00000000000000000012"', 12],
  ['BIGINT', '9223372036854775807', 9223372036854775807n],
  ['real', '0.1', 0.1],
  ['real', '1.0E10', 1e10],
  ['real', '"NaN"', Number.NaN],
  ['double', '1.0E22', 1e22],
  ['double', '-0.0', -0],
  ['double', '"NaN"', Number.NaN],
  ['double', '"Infinity"', Number.POSITIVE_INFINITY],
  ['double', '"-Infinity"', Number.NEGATIVE_INFINITY],
  ['double', '3', 3],
  ['double', '100000000000000000000', 1e20],
  ['double', '9007199254740993', 9007199254740992],
  ['double precision', '2.5', 2.5],
  ['decimal(3, 2)', '"1.50"', '1.50'],
  ['decimal(3,2)', '"-0.05"', '-0.05'],
  ['decimal(38, 0)', '"99999999999999999999999999999999999999"', '99999999999999999999999999999999999999'],
  ['decimal(3, 2)', '1.50', '1.50'],
  ['decimal(38, 10)', '12345678901234567890.1234567890', '12345678901234567890.1234567890'],
  ['decimal(38, 0)', '-99999999999999999999999999999999999999', '-99999999999999999999999999999999999999'],
  ['number', '"10.3"', '10.3'],
  ['number', '"NaN"', 'NaN'],
  ['varchar', '"a"', 'a'],
  ['varchar(3)', '"\\u0000\\n\\"\\\\"', '\u0000\n"\\'],
  ['varchar', '"東京 😀"', '東京 😀'],
  ['varchar', '"12345678901234567890"', '12345678901234567890'],
  ['varchar', '"NaN"', 'NaN'],
  ['char(5)', '"ab   "', 'ab   '],
  // U+FEFF at the beginning of a value is a character of it.
  ['varchar', '"\ufeffa"', '\ufeffa'],
  ['varchar', '"\ufeff"', '\ufeff'],
  ['json', '"\ufeff{}"', '\ufeff{}'],
  ['array(varchar)', '["\ufeffa"]', ['\ufeffa']],
  ['map(varchar, varchar)', '{"\ufeffk":"\ufeffv"}', new Map([['\ufeffk', '\ufeffv']])],
  ['row(a varchar, b bigint)', '["\ufeffa",9007199254740993]', ['\ufeffa', 9007199254740993n]],
  ['varbinary', '"ZWg/"', new Uint8Array([101, 104, 63])],
  ['varbinary', '""', new Uint8Array([])],
  ['json', '"{\\"a\\":1.0}"', '{"a":1.0}'],
  ['variant', '"[1]"', '[1]'],
  ['date', '"2001-08-22"', '2001-08-22'],
  ['date', '"-0001-01-01"', '-0001-01-01'],
  ['date', '"+12020-01-01"', '+12020-01-01'],
  ['time(3)', '"01:02:03.456"', '01:02:03.456'],
  ['time(3) with time zone', '"01:02:03.456-08:00"', '01:02:03.456-08:00'],
  ['timestamp(6)', '"2020-06-10 15:55:23.383345"', '2020-06-10 15:55:23.383345'],
  ['timestamp', '"2020-06-10 15:55:23.383"', '2020-06-10 15:55:23.383'],
  [
    'timestamp(3) with time zone',
    '"2001-08-22 03:04:05.321 America/New_York"',
    '2001-08-22 03:04:05.321 America/New_York',
  ],
  ['interval year to month', '"-1-2"', '-1-2'],
  ['INTERVAL DAY TO SECOND', '"2 03:04:05.678"', '2 03:04:05.678'],
  ['interval day(9) to second(6)', '"-1 12:00:00.000000"', '-1 12:00:00.000000'],
  ['uuid', '"12151fd2-7586-11e9-8f9e-2a86e4085a59"', '12151fd2-7586-11e9-8f9e-2a86e4085a59'],
  ['ipaddress', '"10.0.0.1"', '10.0.0.1'],
  ['color', '"red"', 'red'],
  ['array(bigint)', '[1,null,9223372036854775807]', [1, null, 9223372036854775807n]],
  ['array(double)', '["NaN",1.5]', [Number.NaN, 1.5]],
  ['array(array(varbinary))', '[["ZQ=="],[]]', [[new Uint8Array([101])], []]],
  ['multiset(boolean)', '["true"]', [true]],
  [
    'map(bigint, varchar)',
    '{"1":"x","9223372036854775807":"y"}',
    new Map<Value, Value>([
      [1, 'x'],
      [9223372036854775807n, 'y'],
    ]),
  ],
  [
    'map(boolean, integer)',
    '{"true":1,"false":0}',
    new Map<Value, Value>([
      [true, 1],
      [false, 0],
    ]),
  ],
  [
    'map(double, bigint)',
    '{"1.0E10":1,"NaN":9007199254740993}',
    new Map<Value, Value>([
      [1e10, 1],
      [Number.NaN, 9007199254740993n],
    ]),
  ],
  [
    'map(varchar, decimal(2,1))',
    '{"__proto__":"1.0","b":null}',
    new Map<Value, Value>([
      ['__proto__', '1.0'],
      ['b', null],
    ]),
  ],
  [
    'map(decimal(2,1), real)',
    '{"1.0":"Infinity"}',
    new Map<Value, Value>([['1.0', Number.POSITIVE_INFINITY]]),
  ],
  ['map(varbinary, integer)', '{"ZQ==":1}', new Map<Value, Value>([['ZQ==', 1]])],
  ['map(array(integer), bigint)', '{"[1, 2]":null}', new Map<Value, Value>([['[1, 2]', null]])],
  ['row(a bigint, b varchar)', '[9223372036854775807,"b"]', [9223372036854775807n, 'b']],
  ['row(double, row(x varbinary))', '["NaN",["ZQ=="]]', [Number.NaN, [new Uint8Array([101])]]],
  [
    'row(double double, timestamp timestamp(3) with time zone)',
    '["NaN","2001-08-22 03:04:05.321 UTC"]',
    [Number.NaN, '2001-08-22 03:04:05.321 UTC'],
  ],
  [
    'row(day interval day to second, array array(bigint))',
    '["1 00:00:00.000",[9007199254740993]]',
    ['1 00:00:00.000', [9007199254740993n]],
  ],
  [
    'row("with ""quote"" , and (paren" map(varchar(5), decimal(38, 0)), "timestamp" timestamp(3) with time zone)',
    '[{"k":"1"},"2001-08-22 03:04:05.321 UTC"]',
    [new Map<Value, Value>([['k', '1']]), '2001-08-22 03:04:05.321 UTC'],
  ],
  [
    'map(varchar, array(row(x bigint, "a b" double)))',
    '{"k":[[9007199254740993,"NaN"]]}',
    new Map<Value, Value>([['k', [[9007199254740993n, Number.NaN]]]]),
  ],
  [
    '  Array ( Row ( X  Double ,"Y" bigint ) ) ',
    '[["NaN",9007199254740993]]',
    [[Number.NaN, 9007199254740993n]],
  ],
  ['HyperLogLog', '"AgwB"', 'AgwB'],
  ['qdigest(bigint)', '"AAE="', 'AAE='],
  ['geometry', '"POINT (1 2)"', 'POINT (1 2)'],
  ['unknown', 'null', null],
  [
    'something new',
    '{"a":[1,1.5,9007199254740993,"x",null,true]}',
    { a: [1, 1.5, 9007199254740993n, 'x', null, true] },
  ],
  ['tomorrow(', '"12345678901234567890"', '12345678901234567890'],
  [
    'tomorrow',
    '[12345678901234567890,"12345678901234567890"]',
    [12345678901234567890n, '12345678901234567890'],
  ],
  [
    'tomorrow',
    '["\\u007f1234567890123456","\\u007F","\u007fx",{"\u007f9":1234567890123456789}]',
    ['\u007f1234567890123456', '\u007f', '\u007fx', { '\u007f9': 1234567890123456789n }],
  ],
];

for (const [type, json, expected] of VALUES) {
  t.test(`${type} of ${json}`, async (t) => {
    t.strictSame(await cell(type, json), expected);
  });
  t.test(`null in ${type}`, async (t) => {
    t.equal(await cell(type, 'null'), null);
  });
}

t.test('minus zero stays minus zero', async (t) => {
  t.ok(Object.is(await cell('double', '-0.0'), -0));
});

t.test('varbinary is a plain Uint8Array with a buffer of its own', async (t) => {
  const bytes = (await cell('varbinary', '"ZWg/"')) as Uint8Array;
  t.equal(Object.getPrototypeOf(bytes), Uint8Array.prototype);
  t.equal(bytes.buffer.byteLength, 3);
});

t.test('a type nested a thousand deep does no harm: its values pass as they are', async (t) => {
  const type = `${'array('.repeat(1000)}bigint${')'.repeat(1000)}`;
  t.strictSame(await cell(type, '[[1]]'), [[1]]);
});

// Option, JSON, value.
const BIGINTS: readonly (readonly [BigintForm, string, Value])[] = [
  ['auto', '1', 1],
  ['bigint', '1', 1n],
  ['bigint', '"1"', 1n],
  ['bigint', '9223372036854775807', 9223372036854775807n],
  ['string', '1', '1'],
  ['string', '-0', '0'],
  ['string', '"007"', '7'],
  ['string', '-9223372036854775808', '-9223372036854775808'],
  ['number', '9007199254740991', 9007199254740991],
  ['number', '"-12"', -12],
];

for (const [form, json, expected] of BIGINTS) {
  t.test(`bigint ${json} with bigint: '${form}'`, async (t) => {
    t.strictSame(await cell('bigint', json, form), expected);
    t.strictSame(await cell('array(row(bigint))', `[[${json}]]`, form), [[expected]], 'nested');
    t.strictSame(await cell('integer', '5', form), 5, 'other integers stay numbers');
  });
}

for (const json of ['9007199254740992', '-9007199254740992', '"9007199254740993"', '9223372036854775807']) {
  t.test(`bigint: 'number' refuses ${json}, and names the column but not the value`, async (t) => {
    const error = await refused('bigint', json, 'number');
    t.match(error, { name: 'QueryMeshError', code: 'VALIDATION_FAILED', statusCode: 400 });
    t.match((error as Error).message, /"v"/);
    t.notMatch((error as Error).stack, /900719925474099|9223372036854775807/);
  });
}

// A cell that is not of its declared type.
const MISFITS: readonly (readonly [string, string])[] = [
  ['boolean', '1'],
  ['boolean', '"TRUE"'],
  ['integer', '1.5'],
  ['integer', '"x"'],
  ['integer', 'true'],
  ['integer', '9007199254740993'],
  ['bigint', '1.5'],
  ['bigint', '1e400'],
  ['bigint', '9007199254740993.0'],
  ['bigint', '"1.0"'],
  ['bigint', '""'],
  ['bigint', '" 1"'],
  ['bigint', '"0x10"'],
  ['bigint', '[1]'],
  ['double', '"nan"'],
  ['double', '""'],
  ['double', '"1,5"'],
  ['double', 'true'],
  ['decimal(1,0)', 'true'],
  ['decimal(1,0)', '["1"]'],
  ['varchar', '1'],
  ['varchar', '12345678901234567890'],
  ['varchar', '{}'],
  ['date', '20010822'],
  ['varbinary', '"ZWg"'],
  ['varbinary', '"ZW=="'],
  ['varbinary', '"ZWg/ "'],
  ['varbinary', '"ZW-_"'],
  ['varbinary', '1'],
  ['array(bigint)', '{"0":1}'],
  ['array(bigint)', '1'],
  ['array(varchar)', '["a",1]'],
  ['map(varchar, varchar)', '["a"]'],
  ['map(varchar, varchar)', '12345678901234567890'],
  ['map(bigint, varchar)', '{"x":"a"}'],
  ['map(boolean, varchar)', '{"yes":"a"}'],
  ['row(a bigint, b bigint)', '[1]'],
  ['row(a bigint)', '[1,2]'],
  ['row(a mystery, b mystery)', '[1]'],
  ['row(a bigint)', '{"a":1}'],
];

for (const [type, json] of MISFITS) {
  t.test(`${json} is no ${type}`, async (t) => {
    const error = await refused(type, json);
    t.match(error, { name: 'QueryMeshError', code: 'QUERYMESH_PROTOCOL_ERROR', statusCode: 502 });
    t.match((error as Error).message, /row 0, cell 0/);
    t.notOk((error as Error).cause);
  });
}

t.test('a long text that is nearly a number is refused at once', async (t) => {
  const startedAtMs = performance.now();
  for (const type of ['double', 'real', 'map(double, bigint)']) {
    const text = `"${'1'.repeat(100_000)}x"`;
    await t.rejects(
      cell(type, type.startsWith('map') ? `{${text}:1}` : text),
      { code: 'QUERYMESH_PROTOCOL_ERROR' },
      type,
    );
  }
  // Tried in every way to divide the digits, each would take minutes.
  t.ok(performance.now() - startedAtMs < 5_000);
});
