import { inspect } from 'node:util';
import { QueryMeshRowError, type StandardSchemaV1 } from '@nn-runtime/core';
import { type } from 'arktype';
import t from 'tap';
import * as v from 'valibot';
import { z } from 'zod';
import { startQueryingPerson } from '../person.js';

const person = await startQueryingPerson();
t.teardown(() => person.close());

const COLUMNS = '[{"name":"name","type":"varchar"},{"name":"key","type":"bigint"}]';
const answer = (rows: string): void => person.answer(`{"columns":${COLUMNS},"rows":${rows}}`);

// Each library says the same: a name, and a key that is a number.
const SCHEMAS: Record<string, StandardSchemaV1<unknown, { name: string; key: number }>> = {
  'zod 4': z.object({ name: z.string(), key: z.number() }),
  valibot: v.object({ name: v.string(), key: v.number() }),
  arktype: type({ name: 'string', key: 'number' }) as unknown as StandardSchemaV1<
    unknown,
    { name: string; key: number }
  >,
};

for (const [library, row] of Object.entries(SCHEMAS)) {
  t.test(`${library}: rows that fit come out of the schema`, async (t) => {
    answer('[["BRAZIL",1],["PERU",2]]');
    const result = await person.queryMesh('SELECT 1', { row });
    t.strictSame(
      result.objects().map(({ name, key }) => ({ name, key })),
      [
        { name: 'BRAZIL', key: 1 },
        { name: 'PERU', key: 2 },
      ],
    );
    t.strictSame(result.rows, [
      ['BRAZIL', 1],
      ['PERU', 2],
    ]);
  });

  t.test(`${library}: the first row that does not fit is named, its values are not`, async (t) => {
    answer('[["BRAZIL",1],["s3cret-name",9223372036854775807],[null,null]]');
    const error = await person.queryMesh('SELECT 1', { row }).catch((caught: unknown) => caught);
    t.ok(error instanceof QueryMeshRowError);
    t.match(error, { code: 'QUERYMESH_ROW_INVALID', rowIndex: 1, paths: ['key'] });
    const printed = inspect(error, { depth: 9, showHidden: true }) + JSON.stringify(error);
    t.notMatch(printed, /s3cret|922337203685477580|expected/i);
  });
}

t.test('outputs are what the schema makes of a row, and are given again each time', async (t) => {
  answer('[["BRAZIL",1]]');
  const row = z.object({ name: z.string().toLowerCase(), key: z.number().transform(BigInt) });
  const result = await person.queryMesh('SELECT 1', { row });
  t.strictSame(result.objects(), [{ name: 'brazil', key: 1n }]);
  t.strictSame(result.objects({ json: true }), [{ name: 'brazil', key: '1' }]);
  t.strictSame(result.toJSON().rows, [['BRAZIL', 1]], 'the rows stay as they were sent');
  result.objects().pop();
  t.equal(result.objects().length, 1);
});

t.test('outputs of any kind are made JSON', async (t) => {
  answer('[["2020-01-01T00:00:00Z",1]]');
  const row = z.object({ name: z.coerce.date(), key: z.number() });
  const result = await person.queryMesh('SELECT 1', { row });
  t.strictSame(result.objects({ json: true }), [{ name: '2020-01-01T00:00:00.000Z', key: 1 }]);
});

t.test('a schema that answers later is awaited, row after row', async (t) => {
  answer('[["a",1],["b",2],["c",3]]');
  const seen = new Set<string>();
  const row = z.object({
    name: z.string().refine(async (name) => {
      await Promise.resolve();
      seen.add(name);
      return name !== 'b';
    }),
    key: z.number(),
  });
  const error = await person.queryMesh('SELECT 1', { row }).catch((caught: unknown) => caught);
  t.match(error, { name: 'QueryMeshRowError', rowIndex: 1, paths: ['name'] });
  t.strictSame([...seen], ['a', 'b']);
  answer('[["a",1]]');
  t.strictSame((await person.queryMesh('SELECT 1', { row })).objects(), [{ name: 'a', key: 1 }]);
});

t.test('a schema is given one plain object, and needs not be of a library', async (t) => {
  answer('[["a",9007199254740993]]');
  const given: unknown[] = [];
  const row: StandardSchemaV1<unknown, string> = {
    '~standard': {
      version: 1,
      vendor: 'ours',
      validate: (value) => {
        given.push(value);
        return { value: 'output' };
      },
    },
  };
  t.strictSame((await person.queryMesh('SELECT 1', { row })).objects(), ['output']);
  t.strictSame(given, [{ name: 'a', key: 9007199254740993n }]);
});

for (const [how, validate] of Object.entries({
  throws: () => {
    throw new Error('s3cret-name');
  },
  rejects: () => Promise.reject(new Error('s3cret-name')),
})) {
  t.test(`a schema that ${how} is a row that does not fit, without its message`, async (t) => {
    answer('[["s3cret-name",1]]');
    const row: StandardSchemaV1 = { '~standard': { version: 1, vendor: 'ours', validate } };
    const error = await person.queryMesh('SELECT 1', { row }).catch((caught: unknown) => caught);
    t.match(error, { name: 'QueryMeshRowError', rowIndex: 0, paths: [] });
    t.notMatch(inspect(error, { depth: 9, showHidden: true }), /s3cret/);
  });
}

t.test('paths go into values, each once, and keys of a map are not told', async (t) => {
  person.answer(
    '{"columns":[{"name":"list","type":"array(bigint)"},{"name":"map","type":"map(varchar, varchar)"},{"name":"a b","type":"row(x bigint)"}],"rows":[[[1,null],{"s3cret":null},[null]]]}',
  );
  const row = z.object({
    list: z.array(z.number()),
    map: z.map(z.string(), z.string()),
    'a b': z.tuple([z.string().and(z.number())]),
  });
  const error = await person.queryMesh('SELECT 1', { row }).catch((caught: unknown) => caught);
  t.match(error, { name: 'QueryMeshRowError', paths: ['list.1', 'map.*', 'a b.0'] });
  t.equal((error as QueryMeshRowError).paths.length, 3);
});

t.test('duplicate columns are no object, so no schema is asked', async (t) => {
  person.answer('{"columns":[{"name":"a","type":"bigint"},{"name":"a","type":"bigint"}],"rows":[[1,2]]}');
  await t.rejects(person.queryMesh('SELECT 1', { row: z.object({ a: z.number() }) }), {
    code: 'VALIDATION_FAILED',
  });
});

t.test("with bigint: 'bigint' a column is one type", async (t) => {
  answer('[["a",1],["b",9223372036854775807]]');
  const row = z.object({ name: z.string(), key: z.bigint() });
  const result = await person.queryMesh('SELECT 1', { row, bigint: 'bigint' });
  t.strictSame(result.objects(), [
    { name: 'a', key: 1n },
    { name: 'b', key: 9223372036854775807n },
  ]);
});

const keysOnly = z.record(z.string(), z.number());
const parsed = z.string().transform((text) => JSON.parse(text) as unknown);

// Where the keys come from, type, cell, schema of the cell, path.
const DATA_KEYS: readonly (readonly [string, string, string, StandardSchemaV1, string])[] = [
  ['a map', 'map(varchar, varchar)', '{"s3cret":"x"}', z.object({ c: z.map(z.string(), z.number()) }), 'c.*'],
  ['an unknown type', 'mystery', '{"s3cret":"x"}', z.object({ c: keysOnly }), 'c.*'],
  [
    'an unknown type, by valibot',
    'mystery',
    '{"s3cret":"x"}',
    v.object({ c: v.record(v.string(), v.number()) }),
    'c.*',
  ],
  ['JSON the schema read', 'json', '"{\\"s3cret\\":\\"x\\"}"', z.object({ c: parsed.pipe(keysOnly) }), 'c.*'],
  [
    'JSON in an array',
    'array(json)',
    '["{\\"s3cret\\":[0]}"]',
    z.object({ c: z.array(parsed.pipe(keysOnly)) }),
    'c.0.*',
  ],
  [
    'an array in a map',
    'map(varchar, array(bigint))',
    '{"s3cret":[1,null]}',
    z.object({ c: z.map(z.string(), z.array(z.number())) }),
    'c.*.1',
  ],
];

for (const [where, type, cell, row, path] of DATA_KEYS) {
  t.test(`a key inside a value is data, and not told: of ${where}`, async (t) => {
    person.answer(`{"columns":[{"name":"c","type":"${type}"}],"rows":[[${cell}]]}`);
    const error = await person.queryMesh('SELECT 1', { row }).catch((caught: unknown) => caught);
    t.strictSame((error as QueryMeshRowError).paths, [path]);
    t.notMatch(inspect(error, { depth: 9, showHidden: true }) + JSON.stringify(error), /s3cret/);
  });
}

for (const [what, answered] of Object.entries({
  nothing: undefined,
  null: null,
  'a number of issues': { issues: 7 },
  'an issue of null': { issues: [null] },
  'a path of no segments': { issues: [{ message: '', path: 5 }] },
  'a segment of null': { issues: [{ message: '', path: [null] }] },
  'a key without a text': { issues: [{ message: '', path: [{ key: Object.create(null) }] }] },
})) {
  t.test(`a schema that answers ${what} is a row that does not fit, at once or later`, async (t) => {
    answer('[["a",1]]');
    for (const validate of [() => answered, async () => answered]) {
      const row = { '~standard': { version: 1, vendor: 'ours', validate } } as unknown as StandardSchemaV1;
      await t.rejects(person.queryMesh('SELECT 1', { row }), {
        name: 'QueryMeshRowError',
        rowIndex: 0,
        paths: [],
      });
    }
  });
}

t.test('what is no schema is refused before anything is sent, rows or not', async (t) => {
  answer('[]');
  for (const row of [null, {}, z.object, 'name', 5, { '~standard': null }, { '~standard': { version: 1 } }]) {
    await t.rejects(
      person.queryMesh('SELECT unsent', { row: row as never }),
      { code: 'VALIDATION_FAILED', statusCode: 400, message: /row/ },
      inspect(row),
    );
  }
  await person.queryMesh('SELECT 1');
  t.equal(person.lastSql(), 'SELECT 1');
});

/** A schema that never answers, and what tells that it was asked. */
function silent(): { row: StandardSchemaV1; asked: Promise<void>; count: () => number } {
  let count = 0;
  let tell: () => void = () => undefined;
  const asked = new Promise<void>((resolve) => {
    tell = resolve;
  });
  const validate = () => {
    count += 1;
    tell();
    return new Promise<never>(() => undefined);
  };
  return { row: { '~standard': { version: 1, vendor: 'ours', validate } }, asked, count: () => count };
}

t.test('a schema that does not answer ends at the time limit, and when the caller aborts', async (t) => {
  answer('[["a",1],["b",2]]');
  await t.rejects(person.queryMesh('SELECT 1', { row: silent().row, timeoutMs: 50 }), {
    code: 'QUERYMESH_TIMEOUT',
  });
  const { row, asked, count } = silent();
  const controller = new AbortController();
  const query = person.queryMesh('SELECT 1', { row, signal: controller.signal });
  await asked;
  controller.abort('gone');
  await t.rejects(query, { code: 'QUERYMESH_ABORTED', cause: 'gone' } as never);
  t.equal(count(), 1);
});

t.test('and a runtime that closes ends it too; no further row is looked at', async (t) => {
  const closing = await startQueryingPerson();
  closing.answer(`{"columns":${COLUMNS},"rows":[["a",1],["b",2]]}`);
  let answerLater: (result: { value: unknown }) => void = () => undefined;
  let tell: () => void = () => undefined;
  const asked = new Promise<void>((resolve) => {
    tell = resolve;
  });
  let count = 0;
  const validate = () => {
    count += 1;
    tell();
    return new Promise<{ value: unknown }>((resolve) => {
      answerLater = resolve;
    });
  };
  const query = closing.queryMesh('SELECT 1', {
    row: { '~standard': { version: 1, vendor: 'ours', validate } },
  });
  await asked;
  await Promise.all([t.rejects(query, { code: 'QUERYMESH_ABORTED' }), closing.close()]);
  answerLater({ value: 1 });
  await new Promise((resolve) => setImmediate(resolve));
  t.equal(count, 1);
});

t.test('a set that a schema makes is an array in JSON', async (t) => {
  answer('[["a",1]]');
  const row = z
    .object({ name: z.string(), key: z.number() })
    .transform(({ key }) => ({ keys: new Set([BigInt(key), null]) }));
  t.strictSame((await person.queryMesh('SELECT 1', { row })).objects({ json: true }), [
    { keys: ['1', null] },
  ]);
});
