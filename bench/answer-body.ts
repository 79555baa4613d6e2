/** The broker's answer of 100,000 rows × 8 columns, as bytes. */

export const ROWS = 100_000;

const COLUMNS = [
  { name: 'id', type: 'bigint' },
  { name: 'price', type: 'double' },
  { name: 'comment', type: 'varchar' },
  { name: 'amount', type: 'decimal(18, 2)' },
  { name: 'at', type: 'timestamp(6)' },
  { name: 'open', type: 'boolean' },
  { name: 'note', type: 'varchar(1)' },
  { name: 'day', type: 'date' },
];

// Quotes, backslashes, digits that are no number, and characters of two, three and four bytes.
const COMMENTS = ['plain', 'it "quotes" a \\', ',12345678901234567890,', '東京 😀 é', 'line\nbreak'];

/** Which ids the answer has: all below 2^53, or of 64 bits. */
export type Ids = 'small' | '64-bit';

function row(at: number, ids: Ids): string {
  const id = ids === 'small' ? 1_000_000 + at * 7919 : 9_223_372_036_854_775_807n - BigInt(at) * 7919n;
  const price = at % 1000 === 0 ? '"NaN"' : String((at * 1.2345678901) % 997);
  const comment = JSON.stringify(`${COMMENTS[at % COMMENTS.length]}${at}`);
  const note = at % 3 === 0 ? 'null' : '"x"';
  return `[${id},${price},${comment},"${at}.50","2020-06-10 15:55:23.383345",${at % 2 === 0},${note},"2001-08-22"]`;
}

/** The rows of one page, as JSON. */
export function rowsJson(ids: Ids, from = 0, count = ROWS): string {
  return `[${Array.from({ length: count }, (_, at) => row(from + at, ids)).join(',')}]`;
}

/** The whole answer. */
export function answerBody(ids: Ids): Buffer {
  return Buffer.from(`{"columns":${JSON.stringify(COLUMNS)},"rows":${rowsJson(ids)}}`);
}
