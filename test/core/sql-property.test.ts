import { type SqlValue, sql } from '@nn-runtime/core';
import t from 'tap';
import { startQueryingPerson } from '../person.js';
import fc from '../property.js';

const person = await startQueryingPerson();
t.teardown(() => person.close());
person.answer('{"columns":[],"rows":[]}');

async function textOf(query: ReturnType<typeof sql>): Promise<string> {
  await person.queryMesh(query);
  return person.lastSql();
}

// Every lexical rule of Trino's SqlBase.g4 that can meet a literal, and what no rule takes as a token of its own kind.
const TOKEN =
  /(?<space>\s+)|(?<lineComment>--[^\r\n]*)|(?<comment>\/\*[\s\S]*?\*\/)|(?<binary>[xX]'[^']*')|(?<unicode>[uU]&'(?:[^']|'')*')|(?<string>'(?:[^']|'')*')|(?<quoted>"(?:[^"]|"")*")|(?<back>`(?:[^`]|``)*`)|(?<double>(?:\d+\.?\d*|\.\d+)[eE][+-]?\d+)|(?<decimal>\d+\.\d*|\.\d+)|(?<digitName>\d+[A-Za-z_][A-Za-z0-9_]*)|(?<integer>\d+)|(?<word>[A-Za-z_][A-Za-z0-9_]*)|(?<sign><>|!=|<=|>=|\|\||->|=>|[^\s])/uy;

interface Token {
  readonly kind: string;
  readonly text: string;
}

function lex(text: string): Token[] {
  const tokens: Token[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.length) {
    const groups = TOKEN.exec(text)?.groups ?? {};
    const [kind, matched] = Object.entries(groups).find(([, match]) => match !== undefined) ?? ['none', ''];
    if (matched === undefined || matched === '') throw new Error('the lexer stands still');
    if (kind !== 'space') tokens.push({ kind, text: matched });
  }
  return tokens;
}

/** Whether tokens are one value: a literal, a typed string, or one name or keyword with one pair of brackets around everything. */
function isOneGroup(tokens: readonly Token[]): boolean {
  if (tokens.some(({ kind, text }) => /omment|back|digitName|binary|unicode/.test(kind) || text === ';'))
    return false;
  const [first, second] = tokens;
  if (tokens.length === 1) return first !== undefined && /^(string|integer|word)$/.test(first.kind);
  if (tokens.length === 2) return first?.text === 'DOUBLE' && second?.kind === 'string';
  const opening = first?.kind === 'word' ? 1 : 0;
  let depth = 0;
  return tokens.every(({ text }, at) => {
    if (text === '(' || text === '[') depth++;
    if (text === ')' || text === ']') depth--;
    return at < opening || (depth === 0) === (at === tokens.length - 1);
  });
}

const dangerousText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({
    unit: fc.constantFrom("'", '"', '\\', '-', '/', '*', ';', '`', '$', '%', '_', '\n', '?', 'a', '1', '.'),
  }),
);
const text = dangerousText.filter((value) => !/\p{Surrogate}/u.test(value) && !value.includes('\0'));
const number = fc
  .oneof(fc.double(), fc.maxSafeInteger())
  .filter((value) => !/^-?\d{16,}$/.test(String(value)) || Number.isSafeInteger(value));
const bigint = fc.bigInt({ min: -(10n ** 38n) + 1n, max: 10n ** 38n - 1n });
const date = fc.date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true });
const bytes = fc.uint8Array();
const scalar: fc.Arbitrary<SqlValue> = fc.oneof(
  text,
  number,
  bigint,
  fc.boolean(),
  fc.constant(null),
  date,
  bytes,
);
const anyValue: fc.Arbitrary<SqlValue> = fc.oneof(
  scalar,
  fc.array(fc.oneof(scalar, fc.array(scalar, { minLength: 1 })), { minLength: 1 }),
);

// Pieces of SQL that stand before and after a value, each whole in itself.
const piece = fc
  .array(
    fc.constantFrom(
      'a',
      '1',
      '.',
      '-',
      '--x\n',
      '/',
      '*',
      '/* c */',
      "'q'",
      '"n"',
      '`b`',
      'X',
      'U&',
      ' ',
      '(',
      ')',
      '=',
      '<',
      ';',
      '?',
      'é',
      '$',
      '@',
      '1.5',
      'e5',
      '_',
    ),
    { maxLength: 6 },
  )
  .map((parts) => parts.join(''))
  .filter((joined) => {
    try {
      sql.unsafe(joined);
      return !/\/\*(?! c \*\/)|\$\$/.test(joined);
    } catch {
      return false;
    }
  });

t.test('a value is always one group of tokens', async (t) => {
  await fc.assert(
    fc.asyncProperty(anyValue, async (value) => isOneGroup(lex(await textOf(sql`${value}`)))),
    { numRuns: 400 },
  );
  t.pass('400 values');
});

t.test('and none of its tokens is changed by what stands beside it, nor changes that', async (t) => {
  await fc.assert(
    fc.asyncProperty(piece, anyValue, anyValue, piece, async (before, first, second, after) => {
      const whole = await textOf(sql`${sql.unsafe(before)}${first}${second}${sql.unsafe(after)}`);
      const parts = [before, await textOf(sql`${first}`), await textOf(sql`${second}`), after];
      t.strictSame(lex(whole), parts.flatMap(lex));
      return true;
    }),
    { numRuns: 200 },
  );
});

t.test('spliced pieces of SQL keep their tokens', async (t) => {
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { minLength: 1, maxLength: 5 }), async (pieces) => {
      const joined = pieces.reduce((query, next) => sql`${query}${sql.unsafe(next)}`, sql``);
      const wrapped = await textOf(sql`(${joined})`);
      t.strictSame(lex(wrapped), ['(', ...pieces, ')'].flatMap(lex));
    }),
    { numRuns: 200 },
  );
});

t.test('names are read back as they were', async (t) => {
  await fc.assert(
    fc.asyncProperty(
      text.filter((name) => name !== ''),
      async (name) => {
        const tokens = lex(await textOf(sql`${sql.id(name)}`));
        return (
          tokens.length === 1 &&
          tokens[0]?.kind === 'quoted' &&
          tokens[0].text.slice(1, -1).replaceAll('""', '"') === name
        );
      },
    ),
    { numRuns: 100 },
  );
  t.pass('100 names');
});
