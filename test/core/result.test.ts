import t from 'tap';
import { startQueryingPerson } from '../person.js';

const person = await startQueryingPerson();
t.teardown(() => person.close());

const query = (columns: readonly (readonly [string, string])[], rows: string) => {
  const described = columns.map(([name, type]) => ({ name, type }));
  person.answer(`{"columns":${JSON.stringify(described)},"rows":${rows}}`);
  return person.queryMesh('SELECT 1');
};

t.test('objects have the names of the columns, in their order', async (t) => {
  const result = await query(
    [
      ['name', 'varchar'],
      ['regionkey', 'bigint'],
    ],
    '[["BRAZIL",1],["PERU",null]]',
  );
  t.strictSame(result.rows, [
    ['BRAZIL', 1],
    ['PERU', null],
  ]);
  t.strictSame(result.objects(), [
    { name: 'BRAZIL', regionkey: 1 },
    { name: 'PERU', regionkey: null },
  ]);
  t.equal(Object.getPrototypeOf(result.objects()[0]), Object.prototype);
});

t.test('two columns with one name are no object: the error names them', async (t) => {
  const result = await query(
    [
      ['a', 'bigint'],
      ['b', 'bigint'],
      ['a', 'bigint'],
      ['b', 'bigint'],
      ['c', 'bigint'],
    ],
    '[[1,2,3,4,5]]',
  );
  t.strictSame(result.rows, [[1, 2, 3, 4, 5]], 'the rows have them all');
  t.throws(() => result.objects(), {
    name: 'QueryMeshError',
    code: 'VALIDATION_FAILED',
    message: /"a", "b"/,
  });
  t.throws(() => result.objects({ duplicates: 'throw' }), { code: 'VALIDATION_FAILED' });
});

t.test('or the later ones get a new name, which no other column has', async (t) => {
  const result = await query(
    [
      ['a', 'bigint'],
      ['a', 'bigint'],
      ['a_2', 'bigint'],
      ['a', 'bigint'],
      ['A', 'bigint'],
    ],
    '[[1,2,3,4,5]]',
  );
  t.strictSame(result.objects({ duplicates: 'rename' }), [{ a: 1, a_3: 2, a_2: 3, a_4: 4, A: 5 }]);
});

t.test('a column named __proto__ is a member like any other', async (t) => {
  const result = await query(
    [
      ['__proto__', 'x'],
      ['b', 'bigint'],
    ],
    '[[{"polluted":true},1]]',
  );
  const [row] = result.objects();
  t.strictSame(Object.entries(row ?? {}), [
    ['__proto__', { polluted: true }],
    ['b', 1],
  ]);
  t.equal(Object.getPrototypeOf(row), Object.prototype);
  t.equal(JSON.stringify(row), '{"__proto__":{"polluted":true},"b":1}');
  t.notOk('polluted' in {});
});

t.test(
  '__proto__ inside a value of an unknown type is a member too, also beside long integers',
  async (t) => {
    for (const number of ['1', '1234567890123456789']) {
      const result = await query([['v', 'mystery']], `[[{"__proto__":{"n":${number}},"\\u007f":1}]]`);
      const value = result.rows[0]?.[0] as object;
      t.strictSame(Object.keys(value), ['__proto__', '\u007f']);
      t.equal(Object.getPrototypeOf(value), Object.prototype);
      t.equal(
        JSON.stringify(result.toJSON().rows),
        `[[{"__proto__":{"n":${number === '1' ? 1 : `"${number}"`}},"\u007f":1}]]`,
      );
    }
  },
);

const EVERY_KIND: readonly (readonly [string, string])[] = [
  ['big', 'bigint'],
  ['nan', 'double'],
  ['inf', 'real'],
  ['bytes', 'varbinary'],
  ['map', 'map(bigint, array(bigint))'],
  ['row', 'row(x double, y varbinary)'],
  ['raw', 'mystery'],
  ['text', 'varchar'],
  ['none', 'unknown'],
  ['flag', 'boolean'],
];
const EVERY_VALUE =
  '[[9223372036854775807,"NaN","-Infinity","ZWg/",{"1":[9007199254740993,1]},["Infinity","ZQ=="],{"n":9007199254740993},"a",null,true]]';
const EVERY_JSON = [
  '9223372036854775807',
  'NaN',
  '-Infinity',
  'ZWg/',
  { 1: ['9007199254740993', 1] },
  ['Infinity', 'ZQ=='],
  { n: '9007199254740993' },
  'a',
  null,
  true,
];

t.test('a result always serialises: a handler may return it as it is', async (t) => {
  const result = await query(EVERY_KIND, EVERY_VALUE);
  const columns = EVERY_KIND.map(([name, type]) => ({ name, type }));
  t.strictSame(result.toJSON(), { columns, rows: [EVERY_JSON] });
  t.strictSame(JSON.parse(JSON.stringify(result)), { columns, rows: [EVERY_JSON] });
  t.equal(typeof result.rows[0]?.[0], 'bigint', 'the rows themselves keep their values');
});

t.test('objects for JSON hold what JSON can hold', async (t) => {
  const result = await query(EVERY_KIND, EVERY_VALUE);
  const expected = Object.fromEntries(EVERY_KIND.map(([name], at) => [name, EVERY_JSON[at]]));
  t.strictSame(result.objects({ json: true }), [expected]);
  t.throws(() => JSON.stringify(result.objects()), TypeError, 'which plain objects of these values do not');
});

t.test('a map key __proto__ stays a key in JSON', async (t) => {
  const result = await query([['m', 'map(varchar, bigint)']], '[[{"__proto__":1}]]');
  t.equal(JSON.stringify(result.objects({ json: true })), '[{"m":{"__proto__":1}}]');
});

t.test('each call gives objects of its own', async (t) => {
  const result = await query([['a', 'bigint']], '[[1]]');
  const [first] = result.objects();
  if (first) first.a = 2;
  t.strictSame(result.objects(), [{ a: 1 }]);
});

t.test('only `rename` renames: any other word throws, as without one', async (t) => {
  const result = await query(
    [
      ['a', 'bigint'],
      ['a', 'bigint'],
    ],
    '[[1,2]]',
  );
  for (const duplicates of ['Rename', 'merge', '', null]) {
    t.throws(() => result.objects({ duplicates: duplicates as never }), { code: 'VALIDATION_FAILED' });
  }
});

t.test('thousands of columns with one name are renamed in one pass', async (t) => {
  const columns = Array.from({ length: 20_000 }, () => ['c', 'bigint'] as const);
  const result = await query(columns, '[]');
  const startedAtMs = performance.now();
  t.strictSame(result.objects({ duplicates: 'rename' }), []);
  t.throws(() => result.objects(), { message: /named "c":/ });
  // The square of the number would be minutes.
  t.ok(performance.now() - startedAtMs < 5_000);
});

t.test('a value nested as deep as is read serialises, in every form; a deeper one is not read', async (t) => {
  const nested = (depth: number, open: string, inner: string, close: string): string =>
    open.repeat(depth) + inner + close.repeat(depth);
  for (const type of ['mystery', 'json', 'variant', 'map(varchar, mystery)']) {
    for (const [open, close] of [
      ['[', ']'],
      ['{"a":', '}'],
    ] as const) {
      for (const inner of ['1', '9007199254740993']) {
        const cell = (depth: number): string =>
          type.startsWith('map')
            ? `{"k":${nested(depth, open, inner, close)}}`
            : nested(depth, open, inner, close);
        const result = await query([['c', type]], `[[${cell(500)}]]`);
        const text = inner === '1' ? inner : `"${inner}"`;
        t.ok(JSON.stringify(result).includes(nested(500, open, text, close)), type);
        t.ok(JSON.stringify(result.objects({ json: true })).includes(text));
        for (const depth of [501, 3_000, 100_000]) {
          await t.rejects(
            query([['c', type]], `[[${cell(depth)}]]`),
            { code: 'QUERYMESH_PROTOCOL_ERROR' },
            `${type} ${depth}`,
          );
        }
      }
    }
  }
});
