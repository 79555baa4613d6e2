import { spawnSync } from 'node:child_process';
import { node24 } from '@nn-runtime-test/node24';
import t from 'tap';
import { startQueryingPerson } from '../person.js';

/** Node 24 of the npm package, for its JSON.parse, whose reviver is told the source text of a number. */
const NODE_24 = node24();
const DOCUMENTS = 50_000;
const DOCUMENTS_PER_BODY = 200;

/** A generator of the same numbers in each run (mulberry32): a failure can be looked at again. */
function makeRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

const random = makeRandom(20261130);
const below = (count: number): number => Math.floor(random() * count);
const oneOf = <T>(choices: readonly [T, ...T[]]): T => choices[below(choices.length)] ?? choices[0];
const digits = (count: number): string =>
  `${1 + below(9)}${Array.from({ length: count - 1 }, () => below(10)).join('')}`;
const space = (): string => oneOf(['', '', '', ' ', '\n', '\t ', '\r\n']);

const CHARACTERS = [
  ...['a', 'é', '東', '😀', '\u2028', '\u007f', '\u007f', '1', '-', ',', ':', '[', '{', '}', ']', ' '],
  ...['\\"', '\\\\', '\\/', '\\n', '\\u0000', '\\u007f', '\\u007F', '\\ud83d\\ude00', '\\ud800', '\\u0041'],
  ...['1234567890123456789', ',9007199254740993,', ':-9223372036854775808', '"'.replace('"', '\\"')],
] as [string, ...string[]];

const textJson = (): string => `"${Array.from({ length: below(5) }, () => oneOf(CHARACTERS)).join('')}"`;

function numberJson(long: boolean): string {
  const sign = oneOf(['', '-']);
  const whole = oneOf([
    () => '0',
    () => digits(1 + below(15)),
    () => (long ? digits(16 + below(25)) : digits(3)),
    () =>
      long ? oneOf(['9007199254740991', '9007199254740992', '9007199254740993', '9223372036854775807']) : '7',
  ])();
  const fraction = oneOf(['', '', '', `.${below(10)}`, `.${digits(20)}`]);
  const exponent = !long ? '' : oneOf(['', '', '', '', `e${below(20)}`, `E+${below(10)}`, `e-${digits(2)}`]);
  return sign + whole + fraction + exponent;
}

function json(depth: number, long: boolean): string {
  const kind = below(depth > 3 ? 4 : 6);
  if (kind === 0) return oneOf(['true', 'false', 'null']);
  if (kind === 1) return textJson();
  if (kind < 4) return numberJson(long);
  const items = Array.from({ length: below(4) }, () => space() + json(depth + 1, long) + space());
  if (kind === 4) return `[${items.join(',') || space()}]`;
  const members = items.map(
    (item) => `${space()}${oneOf(['"__proto__"', '"1"', textJson(), textJson()])}${space()}:${item}`,
  );
  return `{${members.join(',') || space()}}`;
}

// What both sides make of a document, as JSON: integers past 2^53 with all their digits, and what JSON itself cannot tell apart.
const IN_NODE_24 = `
  const tagged = (value, source) =>
    Object.is(value, -0) ? { $: '-0' }
    : !Number.isFinite(value) ? { $: String(value) }
    : /^-?\\d+$/.test(source) && !Number.isSafeInteger(value) ? { $: String(BigInt(source)) }
    : value;
  let input = '';
  process.stdin.setEncoding('utf8').on('data', (chunk) => { input += chunk; }).on('end', () => {
    const outputs = JSON.parse(input).map((document) =>
      JSON.stringify(JSON.parse(document, (key, value, context) => (typeof value === 'number' ? tagged(value, context.source) : value))));
    process.stdout.write(JSON.stringify(outputs));
  });`;

function tagged(value: unknown): unknown {
  if (typeof value === 'bigint') return { $: String(value) };
  if (typeof value === 'number') {
    return Object.is(value, -0) ? { $: '-0' } : Number.isFinite(value) ? value : { $: String(value) };
  }
  if (Array.isArray(value)) return value.map(tagged);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, tagged(inner)]));
}

const skip = NODE_24 === undefined && 'the npm package with Node 24 exists for Linux on x64 alone';

t.test('50,000 documents are read as a newer engine reads their source text', { skip }, async (t) => {
  const person = await startQueryingPerson();
  t.teardown(() => person.close());
  const bodies = Array.from({ length: DOCUMENTS / DOCUMENTS_PER_BODY }, (_, at) =>
    // In two bodies of three no number is long, so that the plain parse is read too.
    Array.from({ length: DOCUMENTS_PER_BODY }, () => json(0, at % 3 === 0)),
  );
  const child = spawnSync(NODE_24 ?? '', ['-e', IN_NODE_24], {
    input: JSON.stringify(bodies.flat()),
    encoding: 'utf8',
    maxBuffer: 1 << 30,
  });
  t.equal(child.status, 0, child.stderr);
  const expected = JSON.parse(child.stdout) as string[];
  let differences = 0;
  for (const [at, documents] of bodies.entries()) {
    // Every other body has a decimal written as a bare number, for which each number is kept as text.
    const decimal = at % 2 === 0 ? '1.50' : '"1.50"';
    const rows = documents.map((document) => `[${document},${decimal}]`).join(',\n');
    person.answer(
      `{"columns":[{"name":"v","type":"not known"},{"name":"d","type":"decimal(3,2)"}],"rows":[${rows}]}`,
    );
    const result = await person.queryMesh('SELECT 1');
    result.rows.forEach(([value, exact], row) => {
      const index = at * DOCUMENTS_PER_BODY + row;
      const same = JSON.stringify(tagged(value)) === expected[index] && exact === '1.50';
      if (!same && ++differences <= 3)
        t.fail('a difference', { document: documents[row], expected: expected[index] });
    });
  }
  t.equal(differences, 0);
  t.equal(expected.length, 50_000);
  const long = expected.filter((document) => /"\$":"-?\d{16,}"/.test(document)).length;
  t.ok(long > 1000, `${long} of them hold a long integer`);
});
