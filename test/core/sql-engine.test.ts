import { createRequire } from 'node:module';
import { type SqlValue, sql } from '@nn-runtime/core';
import t from 'tap';
import { startQueryingPerson } from '../person.js';
import fc from '../property.js';

interface Connection {
  runAndReadAll(text: string): Promise<{ getRowsJS(): unknown[][] }>;
  closeSync(): void;
}

// The engine of the local platform, by itself: what is tested is the text, not the way it takes.
const require = createRequire(new URL('../../packages/dev/package.json', import.meta.url));
const { DuckDBInstance } = require('@duckdb/node-api') as {
  DuckDBInstance: { create(path: string): Promise<{ connect(): Promise<Connection>; closeSync(): void }> };
};

const engine = await DuckDBInstance.create(':memory:');
const connection = await engine.connect();
const person = await startQueryingPerson();
person.answer('{"columns":[],"rows":[]}');
t.teardown(async () => {
  connection.closeSync();
  engine.closeSync();
  await person.close();
});

/** What the engine reads in each of these values: they travel as one query, a column each. */
async function readBack(values: readonly SqlValue[]): Promise<unknown[]> {
  await person.queryMesh(sql`SELECT ${sql.list(values)}`);
  const reader = await connection.runAndReadAll(person.lastSql());
  return reader.getRowsJS()[0] ?? [];
}

/** As a bigint, whatever the engine made of the digits: an integer, or a decimal without a fraction. */
const asBigint = (value: unknown): bigint => BigInt(String(value));
const asBytes = (value: unknown): number[] => [...(value as Uint8Array)];
const asIs = (value: unknown): unknown => value;

const text = fc
  .oneof(
    fc.string({ unit: 'binary' }),
    fc.string({
      unit: fc.constantFrom("'", '"', '\\', '-', '/', '*', ';', '$', '%', '\n', '\r', '?', '{', 'x'),
    }),
  )
  .filter((value) => !/\p{Surrogate}/u.test(value) && !value.includes('\0'));

interface Kind<T extends SqlValue> {
  readonly values: fc.Arbitrary<T>;
  readonly sent: (value: T) => unknown;
  readonly read: (value: unknown) => unknown;
}
const kind = <T extends SqlValue>(
  values: fc.Arbitrary<T>,
  sent: (value: T) => unknown,
  read: (value: unknown) => unknown,
): Kind<SqlValue> => ({ values, sent, read }) as unknown as Kind<SqlValue>;

const decimalText = fc
  .tuple(
    fc.boolean(),
    fc.bigInt({ min: 0n, max: 10n ** 20n }),
    fc.string({ unit: fc.constantFrom('0', '5', '9'), minLength: 1, maxLength: 10 }),
  )
  .map(([negative, whole, fraction]) => `${negative && whole > 0n ? '-' : ''}${whole}.${fraction}`);

const KINDS: Record<string, Kind<SqlValue>> = {
  texts: kind(text, asIs, asIs),
  'safe integers': kind(fc.maxSafeInteger(), asBigint, asBigint),
  doubles: kind(
    fc.double().filter((value) => !/^-?\d+$/.test(String(value))),
    asIs,
    asIs,
  ),
  'bigints of 64 bits': kind(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), asBigint, asBigint),
  'booleans and null': kind(fc.constantFrom(true, false, null), asIs, asIs),
  dates: kind(
    fc.date({ min: new Date('0001-01-01'), max: new Date('9999-12-31T23:59:59.999Z'), noInvalidDate: true }),
    (value) => (value as Date).getTime(),
    (value) => (value as Date).getTime(),
  ),
  bytes: kind(fc.uint8Array(), asBytes, asBytes),
  'arrays of texts': kind(fc.array(text, { minLength: 1 }), asIs, asIs),
  'arrays of arrays of doubles': kind(
    fc.array(
      fc.array(
        fc.double().filter((value) => !/^-?\d+$/.test(String(value))),
        { minLength: 1 },
      ),
      { minLength: 1 },
    ),
    asIs,
    asIs,
  ),
};

for (const [name, { values, sent, read }] of Object.entries(KINDS)) {
  t.test(`the engine reads ${name} as they were sent`, async (t) => {
    await fc.assert(
      fc.asyncProperty(fc.array(values, { minLength: 1, maxLength: 20 }), async (list) => {
        t.strictSame((await readBack(list)).map(read), list.map(sent));
      }),
      { numRuns: 30 },
    );
  });
}

/** What the engine prints of values, for types whose JavaScript form would be rounded. */
async function printed(values: readonly SqlValue[]): Promise<unknown[]> {
  return readBack(values.map((value) => sql`CAST(${value} AS varchar)`));
}

t.test('the engine reads decimals past 64 bits digit for digit', async (t) => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.bigInt({ min: -(10n ** 38n) + 1n, max: 10n ** 38n - 1n }), { minLength: 1, maxLength: 20 }),
      async (list) => {
        t.strictSame(await printed(list), list.map(String));
      },
    ),
    { numRuns: 20 },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(decimalText, { minLength: 1, maxLength: 20 }), async (list) => {
      const texts = await printed(list.map((text) => sql.decimal(text)));
      // DuckDB prints no zero before the point where a type has no digit for it: decimal(3, 3).
      t.strictSame(
        texts.map((text) => String(text).replace(/^(-?)\./, '$10.')),
        list,
      );
    }),
    { numRuns: 20 },
  );
});

t.test('the engine finds a text by LIKE as it is, and nothing that only looks like it', async (t) => {
  await fc.assert(
    fc.asyncProperty(text, text, async (a, b) => {
      const query = sql`SELECT ${a} LIKE ${sql.like(a)}, ${a} LIKE ${sql.like(b)},
        ${a + b} LIKE ${sql.like(a, 'start')}, ${a + b} LIKE ${sql.like(b, 'end')}, ${b + a + b} LIKE ${sql.like(a, 'anywhere')}`;
      await person.queryMesh(query);
      const reader = await connection.runAndReadAll(person.lastSql());
      t.strictSame(reader.getRowsJS()[0], [true, a === b, true, true, true]);
    }),
    { numRuns: 100 },
  );
});

t.test('the engine reads dates and time stamps as they were written', async (t) => {
  t.strictSame(await printed([sql.date('2020-02-29'), sql.timestamp('2020-02-29 23:59:59.999')]), [
    '2020-02-29',
    '2020-02-29 23:59:59.999',
  ]);
});

t.test('a name of any characters is the name of a column', async (t) => {
  await fc.assert(
    fc.asyncProperty(
      text.filter((name) => name !== ''),
      async (name) => {
        await person.queryMesh(sql`SELECT q.${sql.id(name)} FROM (SELECT 7 AS ${sql.id(name)}) AS q`);
        const reader = await connection.runAndReadAll(person.lastSql());
        t.strictSame(reader.getRowsJS(), [[7]]);
      },
    ),
    { numRuns: 50 },
  );
});
