/** A JavaScript value → one SQL literal, written so that Trino and the local engine read it alike. */

const MAX_DECIMAL_DIGITS = 38;
const MAX_INT64 = 9_223_372_036_854_775_807n;
const MIN_INT64 = -9_223_372_036_854_775_808n;

/**
 * A string literal. Only the quote is doubled: Trino has no other escape.
 *
 * @throws TypeError for what no engine takes: U+0000 and half a surrogate pair.
 */
export function quoteText(text: string): string {
  requireText(text);
  return `'${text.replaceAll("'", "''")}'`;
}

/** A quoted identifier. @throws TypeError for an empty name, U+0000 or half a surrogate pair. */
export function quoteName(name: unknown): string {
  if (typeof name !== 'string' || name === '')
    throw new TypeError('sql.id takes names, each a non-empty string');
  requireText(name);
  return `"${name.replaceAll('"', '""')}"`;
}

/** @throws TypeError for U+0000, and for half a surrogate pair, which UTF-8 cannot carry. */
export function requireText(text: string): void {
  if (text.includes('\0')) throw new TypeError('a text with U+0000 cannot be a part of SQL');
  if (/\p{Surrogate}/u.test(text))
    throw new TypeError('a text with half a surrogate pair cannot be a part of SQL');
}

/**
 * A number. Integers are plain digits, so that `LIMIT` takes them; anything else is a double with its shortest text.
 *
 * @throws TypeError for integer digits past ±(2^53 − 1), which JavaScript may have rounded already.
 */
export function numberLiteral(value: number): string {
  if (Number.isSafeInteger(value) && !Object.is(value, -0)) return signed(String(value));
  const text = Object.is(value, -0) ? '-0.0' : String(value);
  if (/^-?\d+$/.test(text))
    throw new TypeError('an integer number past 2^53 - 1 may be rounded already: use a bigint');
  return `DOUBLE '${text}'`;
}

/** A bigint: digits within 64 bits, a decimal beyond. @throws TypeError past 38 digits. */
export function bigintLiteral(value: bigint): string {
  if (value >= MIN_INT64 && value <= MAX_INT64) return signed(String(value));
  const digits = String(value < 0n ? -value : value).length;
  if (digits > MAX_DECIMAL_DIGITS) throw new TypeError('a bigint past 38 digits is no number of Trino');
  return `CAST('${value}' AS decimal(${digits}, 0))`;
}

// `a-${-5}` must not become `a--5`, a comment.
const signed = (digits: string): string => (digits.startsWith('-') ? `(${digits})` : digits);

/** An instant, from milliseconds since the epoch. @throws TypeError for an invalid one or a year that has not four digits. */
export function instantLiteral(epochMs: number): string {
  const text = Number.isFinite(epochMs) ? new Date(epochMs).toISOString() : '';
  const match = /^(\d{4}-\d\d-\d\d)T([\d:.]+)Z$/.exec(text);
  if (match === null || text.startsWith('0000'))
    throw new TypeError('a Date must be valid and of the years 1 to 9999');
  // Not TIMESTAMP '… UTC': an engine that drops the zone there would do so without a word.
  return `CAST('${match[1]} ${match[2]} UTC' AS timestamp with time zone)`;
}

/** Bytes, the whole of their buffer. `X'…'` is a column alias to some engines; the function is the same to all. */
export function bytesLiteral(bytes: Uint8Array<ArrayBuffer>): string {
  return `from_hex('${Buffer.from(bytes.buffer).toString('hex').toUpperCase()}')`;
}

/** A date as written. @throws TypeError for what is no `YYYY-MM-DD` of the calendar. */
export function dateLiteral(text: unknown): string {
  if (typeof text !== 'string' || !isDate(text))
    throw new TypeError('sql.date takes a date such as 2020-02-29');
  return `DATE '${text}'`;
}

/** A time stamp without zone, as written. @throws TypeError for what is no `YYYY-MM-DD hh:mm:ss[.fraction]`. */
export function timestampLiteral(text: unknown): string {
  const match = typeof text === 'string' ? TIMESTAMP.exec(text) : null;
  if (match === null || !isDate(match[1] ?? '')) {
    throw new TypeError('sql.timestamp takes a time stamp such as 2020-02-29 23:59:59.999');
  }
  return `TIMESTAMP '${match[0]}'`;
}

const TIMESTAMP = /^(\d{4}-\d\d-\d\d) (?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,12})?$/;

function isDate(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\d$/.test(text) || text.startsWith('0000')) return false;
  const date = new Date(`${text}T00:00:00Z`);
  // The 30th of February parses, as a day of March.
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}

// Each character fits one place of it alone: a long text that nearly fits would otherwise be tried in as many ways as it has digits, squared.
const DECIMAL = /^-?(?:0+|0*([1-9]\d*))(?:\.(\d+))?$/;

/** A decimal as written, with its own precision and scale. @throws TypeError for what is no plain decimal of at most 38 digits. */
export function decimalLiteral(text: unknown): string {
  const match = typeof text === 'string' ? DECIMAL.exec(text) : null;
  if (match === null) throw new TypeError('sql.decimal takes a decimal such as 12.50');
  const [, whole = '', fraction = ''] = match;
  const scale = fraction.length;
  const precision = Math.max(1, whole.length + scale);
  if (precision > MAX_DECIMAL_DIGITS) throw new TypeError('a decimal has at most 38 digits');
  return `CAST('${match[0]}' AS decimal(${precision}, ${scale}))`;
}

/** Where a `sql.like` text may stand in what it is compared with. */
export type LikePosition = 'whole' | 'start' | 'end' | 'anywhere';

/** The right side of a LIKE that matches a text as it is. Trino has no escape character of its own, so one is named. */
export function likeLiteral(text: unknown, position: unknown): string {
  if (typeof text !== 'string') throw new TypeError('sql.like takes a string');
  const before = position === 'end' || position === 'anywhere' ? '%' : '';
  const after = position === 'start' || position === 'anywhere' ? '%' : '';
  if (before + after === '' && position !== 'whole') {
    throw new TypeError('sql.like takes a position: whole, start, end or anywhere');
  }
  return `${quoteText(`${before}${text.replaceAll(/[\\%_]/g, '\\$&')}${after}`)} ESCAPE '\\'`;
}
