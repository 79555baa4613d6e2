import { inspect } from 'node:util';
import t from 'tap';
import { startQueryingPerson } from '../person.js';

const person = await startQueryingPerson();
t.teardown(() => person.close());

const query = (body: string | Uint8Array) => {
  person.answer(body);
  return person.queryMesh('SELECT 1');
};
const errorOf = (body: string | Uint8Array): Promise<unknown> => query(body).catch((error: unknown) => error);

const COLUMN = '{"name":"a","type":"bigint"}';
const LONG = '1234567890123456789';

// What is wrong → the body. `s3cret` is a value that must be seen nowhere.
const WRONG: Record<string, string | Uint8Array> = {
  empty: '',
  'not JSON': '<html>s3cret</html>',
  'cut inside a string': '{"columns":[{"name":"a","type":"varchar"}],"rows":[["s3cret',
  'cut between rows': `{"columns":[${COLUMN}],"rows":[[1],`,
  'cut before the last bracket': `{"columns":[${COLUMN}],"rows":[[1]]`,
  'followed by more': `{"columns":[${COLUMN}],"rows":[[1]]}{"error":"s3cret"}`,
  'bare NaN, as Python writes it': '{"columns":[{"name":"a","type":"double"}],"rows":[[NaN]]}',
  'an array': `[[${COLUMN}],[[1]]]`,
  null: 'null',
  'a refusal under 200': '{"code":"QUERYMESH_QUERY_FAILED","message":"s3cret"}',
  'no rows': `{"columns":[${COLUMN}]}`,
  'no columns': '{"rows":[[1]]}',
  'rows as an object': `{"columns":[${COLUMN}],"rows":{"0":[1]}}`,
  'columns as an object': '{"columns":{},"rows":[]}',
  'a column without a name': '{"columns":[{"type":"bigint"}],"rows":[]}',
  'a column without a type': '{"columns":[{"name":"s3cret"}],"rows":[]}',
  'a column of another kind': '{"columns":["s3cret"],"rows":[]}',
  'a row as an object': `{"columns":[${COLUMN}],"rows":[{"a":1}]}`,
  'a short row': `{"columns":[${COLUMN},${COLUMN}],"rows":[[1,2],[1]]}`,
  'a long row': `{"columns":[${COLUMN}],"rows":[[1,"s3cret"]]}`,
  'a null row': `{"columns":[${COLUMN}],"rows":[null]}`,
  'not UTF-8': Buffer.concat([
    Buffer.from('{"columns":[{"name":"a","type":"varchar"}],"rows":[["s3cret'),
    Buffer.from([0xc3, 0x28]),
    Buffer.from('"]]}'),
  ]),
  'UTF-16': Buffer.from(`{"columns":[${COLUMN}],"rows":[[1]]}`, 'utf16le'),
  // Where long integers are looked for, what JSON refuses must still be refused.
  'a leading zero': `{"columns":[${COLUMN}],"rows":[[0${LONG}]]}`,
  'a plus sign': `{"columns":[${COLUMN}],"rows":[[+${LONG}]]}`,
  'two minus signs': `{"columns":[${COLUMN}],"rows":[[--${LONG}]]}`,
  'a number as a key': `{"columns":[{"name":"a","type":"x"}],"rows":[[{${LONG} :1}]]}`,
  'a number without an integer part': `{"columns":[${COLUMN}],"rows":[[.${LONG}]]}`,
  'two numbers without a comma': `{"columns":[${COLUMN}],"rows":[[${LONG} ${LONG}]]}`,
  'a letter after a number': `{"columns":[${COLUMN}],"rows":[[${LONG}n]]}`,
  'a string that a backslash leaves open': `{"columns":[${COLUMN}],"rows":[[${LONG},"\\`,
  'nested too deeply to read': `{"columns":[{"name":"a","type":"x"}],"rows":[[${'['.repeat(200_000)}${']'.repeat(200_000)}]]}`,
};

for (const [what, body] of Object.entries(WRONG)) {
  t.test(`a body that is ${what} is one typed error, without its text`, async (t) => {
    const error = await errorOf(body);
    t.match(error, {
      name: 'QueryMeshError',
      code: 'QUERYMESH_PROTOCOL_ERROR',
      statusCode: 502,
      retryable: false,
    });
    t.notMatch(inspect(error, { depth: 9, showHidden: true }), /s3cret/);
    t.notMatch(JSON.stringify(error), /s3cret/);
  });
}

t.test('members that the contract does not name are passed over', async (t) => {
  const result = await query(
    `{"stats":{"x":${LONG}},"columns":[{"name":"a","type":"bigint","extra":1}],"rows":[[1]]}`,
  );
  t.strictSame(result.columns, [{ name: 'a', type: 'bigint' }]);
  t.strictSame(result.rows, [[1]]);
});

t.test('no rows are an empty result', async (t) => {
  const result = await query(`{"columns":[${COLUMN}],"rows":[]}`);
  t.strictSame(result.rows, []);
  t.strictSame(result.objects(), []);
});

t.test('a byte order mark is no part of the document', async (t) => {
  const result = await query(`\ufeff{"columns":[${COLUMN}],"rows":[[${LONG}]]}`);
  t.strictSame(result.rows, [[1234567890123456789n]]);
});

t.test('one unsafe id in the last of many rows is found', async (t) => {
  const rows = Array.from({ length: 20_000 }, (_, id) => `[${id},"row, ${LONG}, ${id}"]`).join(',');
  const result = await query(
    `{"columns":[${COLUMN},{"name":"b","type":"varchar"}],"rows":[${rows},[9007199254740993,"last"]]}`,
  );
  t.equal(result.rows.length, 20_001);
  t.strictSame(result.rows.at(-1), [9007199254740993n, 'last']);
  t.strictSame(result.rows[1], [1, `row, ${LONG}, 1`]);
});

t.test('a column name that looks like a marked number stays what it is', async (t) => {
  const result = await query(`{"columns":[{"name":"\u007f12","type":"bigint"}],"rows":[[${LONG}]]}`);
  t.strictSame(result.columns, [{ name: '\u007f12', type: 'bigint' }]);
});
