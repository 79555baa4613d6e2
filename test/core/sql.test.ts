import { inspect } from 'node:util';
import { Sql, type SqlValue, sql } from '@nn-runtime/core';
import t from 'tap';
import { startQueryingPerson } from '../person.js';

const person = await startQueryingPerson();
t.teardown(() => person.close());
person.answer('{"columns":[],"rows":[]}');

/** The text that reaches the broker. */
async function textOf(query: Sql): Promise<string> {
  await person.queryMesh(query);
  return person.lastSql();
}
const literal = (value: SqlValue): Promise<string> => textOf(sql`${value}`);
// What types forbid, JavaScript may still pass.
const anything = (value: unknown): SqlValue => value as SqlValue;

// Value → literal. The numbers are those of the case table; 4, 9, 19, 22, 28, 34 and 37 are cases of our own.
const LITERALS: readonly (readonly [string, SqlValue, string])[] = [
  ['1', "it's", "'it''s'"],
  ['2', "'; DROP TABLE t; --", "'''; DROP TABLE t; --'"],
  ['3', '\\', "'\\'"],
  ['4', "\\'", "'\\'''"],
  ['5', "''", "''''''"],
  ['6', '', "''"],
  ['7', 'a\nb\r\n', "'a\nb\r\n'"],
  ['8', '/* x */', "'/* x */'"],
  ['8', '-- c', "'-- c'"],
  ['9', '"a" `b` $$c$$', '\'"a" `b` $$c$$\''],
  ['10', '東京 😀', "'東京 😀'"],
  ['10', '\u2028ʼ’＇', "'\u2028ʼ’＇'"],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the value looks like a placeholder on purpose
  ['12', '${x} $1 ? :a', "'${x} $1 ? :a'"],
  ['13', 42, '42'],
  ['13', 0, '0'],
  ['13', 2147483648, '2147483648'],
  ['13', 9007199254740991, '9007199254740991'],
  ['14', -5, '(-5)'],
  ['14', -9007199254740991, '(-9007199254740991)'],
  ['16', 0.1, "DOUBLE '0.1'"],
  ['16', -0.1, "DOUBLE '-0.1'"],
  ['17', 1e21, "DOUBLE '1e+21'"],
  ['17', 5e-324, "DOUBLE '5e-324'"],
  ['17', 1.7976931348623157e308, "DOUBLE '1.7976931348623157e+308'"],
  ['19', -0, "DOUBLE '-0.0'"],
  ['20', Number.NaN, "DOUBLE 'NaN'"],
  ['20', Number.POSITIVE_INFINITY, "DOUBLE 'Infinity'"],
  ['20', Number.NEGATIVE_INFINITY, "DOUBLE '-Infinity'"],
  ['21', 9223372036854775807n, '9223372036854775807'],
  ['22', -9223372036854775808n, '(-9223372036854775808)'],
  ['22', 0n, '0'],
  ['23', 9223372036854775808n, "CAST('9223372036854775808' AS decimal(19, 0))"],
  ['23', -9223372036854775809n, "CAST('-9223372036854775809' AS decimal(19, 0))"],
  ['23', 10n ** 38n - 1n, `CAST('${'9'.repeat(38)}' AS decimal(38, 0))`],
  ['25', true, 'TRUE'],
  ['25', false, 'FALSE'],
  ['25', null, 'NULL'],
  [
    '26',
    new Date('2020-02-29T23:59:59.999Z'),
    "CAST('2020-02-29 23:59:59.999 UTC' AS timestamp with time zone)",
  ],
  ['26', new Date('0001-01-01T00:00:00Z'), "CAST('0001-01-01 00:00:00.000 UTC' AS timestamp with time zone)"],
  ['28', new Uint8Array([0, 0x65, 0xff]), "from_hex('0065FF')"],
  ['28', Buffer.from('e'), "from_hex('65')"],
  ['28', new Uint8Array([]), "from_hex('')"],
  ['29', [1, 2, null], 'ARRAY[1, 2, NULL]'],
  ['29', [["a'b"]], "ARRAY[ARRAY['a''b']]"],
  ['29', [-1, 0.5, 'x'], "ARRAY[(-1), DOUBLE '0.5', 'x']"],
  ['29', [sql.date('2020-02-29'), sql`now()`], "ARRAY[DATE '2020-02-29', now()]"],
  ['30', sql.emptyArray('bigint'), 'CAST(ARRAY[] AS array(bigint))'],
  [
    '30',
    sql.emptyArray('row("a ""b""" decimal(3, 1))'),
    'CAST(ARRAY[] AS array(row("a ""b""" decimal(3, 1))))',
  ],
  ['31', sql.list([1, "a'"]), "1, 'a'''"],
  ['32', sql.id('tpch', 'tiny', 'na;tion'), '"tpch"."tiny"."na;tion"'],
  ['33', sql.id('a"b'), '"a""b"'],
  ['34', sql.id('a.b', ' ', '__proto__', '日'), '"a.b"." "."__proto__"."日"'],
  ['38', sql.like('50%_\\'), "'50\\%\\_\\\\' ESCAPE '\\'"],
  ['38', sql.like("it's", 'start'), "'it''s%' ESCAPE '\\'"],
  ['38', sql.like('a', 'end'), "'%a' ESCAPE '\\'"],
  ['38', sql.like('%', 'anywhere'), "'%\\%%' ESCAPE '\\'"],
  ['38', sql.like('a', 'whole'), "'a' ESCAPE '\\'"],
  ['39', sql.decimal('12345678901234567890.1'), "CAST('12345678901234567890.1' AS decimal(21, 1))"],
  ['39', sql.decimal('-0.05'), "CAST('-0.05' AS decimal(2, 2))"],
  ['39', sql.decimal('0'), "CAST('0' AS decimal(1, 0))"],
  ['39', sql.decimal('007.50'), "CAST('007.50' AS decimal(3, 2))"],
  ['date', sql.date('2020-02-29'), "DATE '2020-02-29'"],
  ['timestamp', sql.timestamp('2020-02-29 23:59:59.999'), "TIMESTAMP '2020-02-29 23:59:59.999'"],
  ['timestamp', sql.timestamp('2020-02-29 00:00:00'), "TIMESTAMP '2020-02-29 00:00:00'"],
  ['unsafe', sql.unsafe("x = 'a' -- done\n"), "x = 'a' -- done\n"],
];

for (const [row, value, expected] of LITERALS) {
  // TAP has one line for a name.
  t.test(`${row}: ${expected.replace(/[^ -~]/g, '?').slice(0, 80)}`, async (t) => {
    t.equal(await literal(value), expected);
  });
}

const value = 'v';
// What the tag makes of a whole text.
const TEXTS: readonly (readonly [string, Sql, string])[] = [
  ['plain digits', sql`LIMIT ${5}`, 'LIMIT 5'],
  ['15: a negative limit is an error at the server, not all rows', sql`LIMIT ${-1}`, 'LIMIT (-1)'],
  ['a type takes digits', sql`CAST(x AS decimal(${3}, ${1}))`, 'CAST(x AS decimal(3, 1))'],
  ['14: no comment out of two minus signs', sql`a-${-5}`, 'a-(-5)'],
  ['31', sql`x IN (${sql.list([1, "a'"])})`, "x IN (1, 'a''')"],
  ['35: no prefix', sql`X${'41'} U&${'a'} DATE${'2020-01-01'}`, "X '41' U& 'a' DATE '2020-01-01'"],
  ['35: no longer number', sql`1${2}3`, '1 2 3'],
  ['35: no fraction', sql`${1}.5 .${5} ${1}e5`, '1 .5 . 5 1 e5'],
  ['35: no doubled quote', sql`${'a'}${'b'}'c'`, "'a' 'b' 'c'"],
  ['a value after a name or text is apart from it', sql`"a"${1}é${2}`, '"a" 1 é 2'],
  ['signs need no space', sql`(${1},${2})=${3}`, '(1,2)=3'],
  [
    '40: SQL in SQL',
    sql`SELECT * FROM t ${sql`WHERE a = ${value}`} LIMIT 1`,
    "SELECT * FROM t WHERE a = 'v' LIMIT 1",
  ],
  ['names joined by static dots', sql`tpch.${sql.id('tiny')}.${sql.id('nation')}`, 'tpch."tiny"."nation"'],
  ['no comment out of an empty fragment', sql`1 /${sql``}* 2 */ -${sql``}- 3`, '1 / * 2 */ - - 3'],
  ['no comment out of two fragments', sql`1 ${sql`-`}${sql`- 2`} ${sql`/`}${sql`* 2`}`, '1 - - 2 / * 2'],
  ['no word out of two', sql`sel${sql`ect`} ${sql`a`}${sql`b`} ${sql`1`}.5`, 'sel ect a b 1 .5'],
  ['no number out of two', sql`1.${sql`e5`} .${sql`5`} a.${sql`e5`}`, '1. e5 . 5 a.e5'],
  ['no quote out of two', sql`${sql`'a'`}${sql`'b'`} ${sql`"a"`}"b"`, '\'a\' \'b\' "a" "b"'],
  [
    'quotes and comments in the text',
    sql`'it''s' "a""b" /* ' */ -- "
    = ${value}`,
    "'it''s' \"a\"\"b\" /* ' */ -- \"\n    = 'v'",
  ],
  ['a comment does not nest', sql`/* /* */ ${value}`, "/* /* */ 'v'"],
  ['a comment mark in quotes is none', sql`'--' '/*' "--" ${value}`, "'--' '/*' \"--\" 'v'"],
  ['a line comment ends at a carriage return too', sql.unsafe('a -- b\rc'), 'a -- b\rc'],
  ['37: a backslash ends nothing', sql`'\\' ${value}`, "'\\' 'v'"],
  // biome-ignore lint/suspicious/noTemplateCurlyInString: what looks like a placeholder is the point
  ['the three escapes that JavaScript needs', sql`\`a\` '\\d' '\${b}'`, "`a` '\\d' '${b}'"],
  [
    'nothing is trimmed',
    sql`
    SELECT ${1}
  `,
    '\n    SELECT 1\n  ',
  ],
  ['a question mark is left', sql`a ? ${1}`, 'a ? 1'],
];

for (const [what, query, expected] of TEXTS) {
  t.test(what, async (t) => {
    t.equal(await textOf(query), expected);
  });
}

t.test('a plain string goes out as written', async (t) => {
  await person.queryMesh("  SELECT 'a' -- b;");
  t.equal(person.lastSql(), "  SELECT 'a' -- b;");
});

class Chameleon extends Date {
  override getUTCFullYear(): number {
    return "2020'; DROP" as unknown as number;
  }
  override toISOString(): string {
    return "2020-01-01T00:00:00'; DROP --Z";
  }
  override getTime(): number {
    return Number.NaN;
  }
  override toString(): string {
    return "'; DROP";
  }
  override [Symbol.toPrimitive](): string & number {
    return "'; DROP" as string & number;
  }
}

class Liar extends Array<SqlValue> {
  override map<U>(): U[] {
    return ['1]; DROP'] as U[];
  }
  override join(): string {
    return '1]; DROP';
  }
  override *[Symbol.iterator](): ArrayIterator<SqlValue> {
    yield sql.unsafe('1]; DROP');
  }
}

t.test('a Date is read by its own time, whatever a subclass answers', async (t) => {
  t.equal(
    await literal(new Chameleon('2020-02-29T23:59:59.999Z')),
    "CAST('2020-02-29 23:59:59.999 UTC' AS timestamp with time zone)",
  );
});

t.test('an array is read by its items, whatever a subclass answers', async (t) => {
  const list = Liar.from([1, "a'"]) as Liar;
  t.equal(await literal(list), "ARRAY[1, 'a''']");
  t.equal(await textOf(sql.list(list)), "1, 'a'''");
});

t.test('bytes are read by their buffer, whatever a subclass answers', async (t) => {
  class Bytes extends Uint8Array {
    override toString(): string {
      return "'; DROP";
    }
    override get length(): number {
      return 1;
    }
    static get [Symbol.species](): Uint8ArrayConstructor {
      throw new Error('asked');
    }
  }
  t.equal(await literal(new Bytes([1, 2])), "from_hex('0102')");
});

t.test('each item of a proxy is read once', async (t) => {
  let reads = 0;
  const proxy = new Proxy(['a'], {
    get: (target, name, receiver) => (name === '0' ? `'${reads++}` : Reflect.get(target, name, receiver)),
  });
  t.equal(await literal(proxy), "ARRAY['''0']");
  t.equal(reads, 1);
});

const holes: SqlValue[] = [1];
holes[2] = 3;
const endless: SqlValue[] = [];
endless.push(endless);
const half = 'a\ud800';

// No literal.
const REFUSED: Record<string, unknown> = {
  undefined: undefined,
  'a function': () => 1,
  'a symbol': Symbol('s3cret'),
  'an object': { text: '1; DROP' },
  'an object that looks like SQL': JSON.parse('{"text":"1; DROP","sql":"1; DROP","#text":"1; DROP"}'),
  'an object with the prototype of SQL': Object.create(Sql.prototype),
  'a proxy of SQL': new Proxy(sql`1`, {}),
  'a proxy of a Date': new Proxy(new Date(0), {}),
  'an object with the prototype of Date': Object.create(Date.prototype),
  'a boxed string': new String('s3cret'),
  'a boxed number': new Number(1),
  'a Map': new Map([['a', 1]]),
  'other typed arrays': new Uint16Array([1]),
  'an array buffer': new ArrayBuffer(2),
  '11: half a surrogate pair': half,
  '11: U+0000': 's3cret\0b',
  '18: an integer past 2^53': 9007199254740992,
  '18: a negative one': -9007199254740992,
  '18: one of 21 digits': 999_999_999_999_999_900_000,
  '24: a bigint past 38 digits': 10n ** 38n,
  '24: a negative one of 39 digits': -(10n ** 38n),
  '27: the year 12020': new Date(Date.UTC(12020, 0, 1)),
  '27: the year 0': new Date('0000-12-31T00:00:00Z'),
  '27: a year before': new Date(-1e14),
  '27: an invalid Date': new Date('s3cret'),
  '30: an empty array': [],
  'an empty array in an array': [[]],
  'an array with a hole': holes,
  'an array that holds itself': endless,
  'an array of the wrong values': [1, undefined],
  'an array of any length it likes': new Proxy([], { get: (_, name) => (name === 'length' ? 1e9 : 1) }),
};

for (const [what, refused] of Object.entries(REFUSED)) {
  t.test(`${what} has no literal`, async (t) => {
    const error = t.throws(() => sql`SELECT ${anything(refused)}`, TypeError);
    t.notMatch(String((error as Error).message), /s3cret|DROP/);
  });
}

// Texts that are wrong for the place where a value, or the text after it, would stand.
const WRONG_TEXTS: Record<string, () => unknown> = {
  '36: in quotes': () => sql`'${value}'`,
  '36: in a quoted name': () => sql`"${value}"`,
  '36: in a line comment': () => sql`1 -- ${value}
  `,
  '36: in a block comment': () => sql`/* ${value} */`,
  'in back quotes': () => sql`\`${value}\``,
  'in dollar quotes': () => sql`$$ ${value} $$`,
  'in named dollar quotes': () => sql`$a$ ${value} $a$`,
  'after a doubled quote': () => sql`'it''s ${value}'`,
  'after a backslash and a quote': () => sql`'\\'' ${value}'`,
  'the second of two': () => sql`${value} '${value}'`,
  'a fragment that ends in quotes': () => sql`'a`,
  'a fragment that ends in a quoted name': () => sql`"a`,
  'a fragment that ends in a line comment': () => sql`a -- b`,
  'a fragment that ends in a block comment': () => sql`a /* b`,
  'a fragment that ends in half a comment': () => sql`a /* b *`,
  'a text after a value that ends in quotes': () => sql`${value} 'a`,
  'unsafe text that ends in a line comment': () => sql.unsafe('a -- b'),
  'unsafe text that ends in quotes': () => sql.unsafe("'a"),
  'an escape for a newline': () => sql`'a\nb'`,
  'an escape for a quote': () => sql`'it\'s'`,
  'an escape by number': () => sql`'\u0041'`,
  'an escape that is none': () => sql`'\unicode'`,
  'an escape for the end of the line': () => sql`a \
b`,
};

for (const [what, make] of Object.entries(WRONG_TEXTS)) {
  t.test(`${what} is refused, each time`, async (t) => {
    t.throws(make, TypeError);
    t.throws(make, TypeError, 'also the second time');
  });
}

const call = sql as unknown as (...values: unknown[]) => unknown;
const frozen = Object.freeze(['SELECT 1']);
const WRONG_CALLS: Record<string, () => unknown> = {
  'a string': () => call('SELECT 1'),
  'an array': () => call(['SELECT 1']),
  'a frozen array': () => call(frozen),
  'an array with raw': () => call(Object.assign(['SELECT 1'], { raw: ['SELECT 1'] })),
  'a frozen array with raw that is not': () =>
    call(Object.freeze(Object.assign(['SELECT 1'], { raw: ['SELECT 1'] }))),
  nothing: () => call(),
  'SQL made by its class': () => new Sql(Symbol('make'), 'SELECT 1'),
  'no name': () => sql.id(),
  'an empty name': () => sql.id('a', ''),
  'a name that is no string': () => sql.id(anything(['a']) as string),
  'a name with U+0000': () => sql.id('a\0'),
  'an empty list': () => sql.list([]),
  'a list that is no array': () => sql.list(anything('abc') as SqlValue[]),
  'a list with a hole': () => sql.list(holes),
  'LIKE of a number': () => sql.like(anything(1) as string),
  'LIKE at no position': () => sql.like('a', anything('middle') as 'start'),
  'the 30th of February': () => sql.date('2020-02-30'),
  'the year 0': () => sql.date('0000-01-01'),
  'a date with a quote': () => sql.date("2020-01-01' --"),
  'a date and a newline': () => sql.date('2020-01-01\n'),
  'a Date as a date': () => sql.date(anything(new Date(0)) as string),
  'a time stamp with T': () => sql.timestamp('2020-01-01T00:00:00'),
  'a time stamp with a zone': () => sql.timestamp('2020-01-01 00:00:00 UTC'),
  'a time stamp at 24 hours': () => sql.timestamp('2020-01-01 24:00:00'),
  'a time stamp of no day': () => sql.timestamp('2021-02-29 00:00:00'),
  'a decimal with an exponent': () => sql.decimal('1e5'),
  'a decimal of 39 digits': () => sql.decimal('1'.repeat(39)),
  'a decimal without digits': () => sql.decimal('-'),
  'a decimal that begins with its point': () => sql.decimal('.5'),
  'a decimal as a number': () => sql.decimal(anything(1.5) as string),
  'an array of no type': () => sql.emptyArray('bigint) --'),
  'an array of an open type': () => sql.emptyArray('array(bigint'),
  'an array of a type with a quote': () => sql.emptyArray("x' --"),
  'unsafe of no string': () => sql.unsafe(anything(sql`1`) as string),
  'SQL past a million characters': () => sql`${'x'.repeat(1_000_000)}`,
};

for (const [what, make] of Object.entries(WRONG_CALLS)) {
  t.test(`${what} is refused`, async (t) => {
    t.throws(make, TypeError);
  });
}

t.test('SQL shows its text to nobody', async (t) => {
  const secret = sql`SELECT s3cret, ${'s3cret'}`;
  for (const shown of [
    String(secret),
    `${secret}`,
    JSON.stringify({ secret }),
    inspect(secret, { showHidden: true, depth: 9 }),
    inspect({ secret }, { getters: true }),
    Object.getOwnPropertyNames(secret).join(),
  ]) {
    t.notMatch(shown, /s3cret/);
  }
});

t.test('a long text that is nearly a decimal is refused at once', async (t) => {
  const startedAtMs = performance.now();
  for (const digits of ['0', '1', '01', '10']) {
    for (const end of ['x', '.', '.x', '..1', '\n']) {
      t.throws(() => sql.decimal(digits.repeat(100_000) + end), TypeError);
    }
  }
  // Tried in every way to divide the digits, each would take minutes.
  t.ok(performance.now() - startedAtMs < 5_000);
});
