/**
 * A JSON body → values, with no digit of a number lost.
 *
 * `JSON.parse` rounds integers past 2^53 without a word, and the reviver's source text does not exist on Node 20. So the numbers that
 * may be rounded are written as marked strings in a copy of the bytes, and that copy is parsed: every engine reads it alike.
 * UTF-8 bytes of other characters are all above 0x7f, so looking for ASCII in the bytes is safe.
 */

/** Which numbers of a body are kept as their own text: none, integers of 16 digits or more, or every one. */
export type Exactness = 'none' | 'integers' | 'numbers';

/** A number as the body wrote it. */
export class NumberText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const MINUS = 0x2d;
const PLUS = 0x2b;
const DOT = 0x2e;
const COLON = 0x3a;
const ZERO = 0x30;
const NINE = 0x39;

/** DEL may stand in a JSON string as it is. A string of the body that begins with it gets a second one, so none is mistaken. */
const MARK = 0x7f;

/** 2^53 has 16 digits: a shorter integer is exact. */
const UNSAFE_DIGITS = 16;

/** How much of a body is looked at to guess that it holds long integers. A wrong guess costs time, never a digit. */
const PROBE_BYTES = 65_536;

/** Whether the head of a body holds a bare integer that a plain parse may round. */
export function beginsWithLongInteger(body: Uint8Array): boolean {
  return markNumbers(body.subarray(0, PROBE_BYTES), 'integers').count > 0;
}

/**
 * Parses a whole body. With an `exactness` other than `none`, hand each value of the outcome to {@link restore} before use.
 *
 * @throws SyntaxError, TypeError or RangeError for what is not one JSON document in UTF-8. Their messages may quote the body.
 */
export function parseJson(body: Uint8Array, exactness: Exactness): unknown {
  return JSON.parse(textOf(exactness === 'none' ? body : markNumbers(body, exactness).bytes));
}

// Fatal: a body that is not UTF-8 is not the protocol's, and replaced characters would be changed data.
const textOf = (bytes: Uint8Array): string => new TextDecoder('utf-8', { fatal: true }).decode(bytes);

/** The digits of an integer that {@link parseJson} marked, sign included; undefined for any other value. Quicker than {@link restore}. */
export function markedDigits(value: unknown): string | undefined {
  return typeof value === 'string' && value.charCodeAt(0) === MARK && value.charCodeAt(1) !== MARK
    ? value.slice(1)
    : undefined;
}

/** Undoes the marks of {@link parseJson}, in place where it can. */
export function restore(value: unknown): unknown {
  if (typeof value === 'string') return value.charCodeAt(0) === MARK ? restoreText(value) : value;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at++) value[at] = restore(value[at]);
    return value;
  }
  return restoreObject(value);
}

function restoreText(text: string): string | NumberText {
  return text.charCodeAt(1) === MARK ? text.slice(1) : new NumberText(text.slice(1));
}

function restoreObject(value: object): object {
  const members = Object.entries(value);
  // Entries are defined, not assigned, by fromEntries: `__proto__` stays a member like any other.
  return Object.fromEntries(
    members.map(([key, inner]) => [key.charCodeAt(0) === MARK ? key.slice(1) : key, restore(inner)]),
  );
}

/**
 * Copies a body, with the numbers that `exactness` names as marked strings, and a second mark in strings that begin with one.
 * One pass over the bytes: on a body of 64-bit ids this loop, not the parse, is what there is to save.
 */
function markNumbers(
  bytes: Uint8Array,
  exactness: 'integers' | 'numbers',
): { bytes: Uint8Array; count: number } {
  const all = exactness === 'numbers';
  const shortest = all ? 1 : UNSAFE_DIGITS;
  const end = bytes.length;
  // Three bytes for a number: at worst `1,` becomes five bytes, and 17 become 20. Two bytes of an empty marked string become three.
  const marked = new Uint8Array(Math.ceil(end * (all ? 2.5 : 1.5)) + 3);
  let count = 0;
  let to = 0;
  let at = 0;
  while (at < end) {
    const byte = bytes[at++] as number;
    marked[to++] = byte;
    if (byte === QUOTE) {
      if (beginsWithMark(bytes, at)) marked[to++] = MARK;
      while (at < end) {
        const inner = bytes[at++] as number;
        marked[to++] = inner;
        if (inner === QUOTE) break;
        if (inner === BACKSLASH && at < end) marked[to++] = bytes[at++] as number;
      }
    } else if (byte >= ZERO && byte <= NINE) {
      const start = at - 1;
      at = endOfDigits(bytes, at);
      const digits = at - start;
      const isInteger = !continuesNumber(bytes[at]);
      if (!isInteger) at = endOfNumber(bytes, at);
      const kept = digits >= shortest && (isInteger || all) && isPlainNumber(bytes, start, digits, at);
      to--;
      if (kept) {
        count++;
        const isNegative = bytes[start - 1] === MINUS;
        if (isNegative) to--;
        marked[to++] = QUOTE;
        marked[to++] = MARK;
        if (isNegative) marked[to++] = MINUS;
      }
      for (let from = start; from < at; from++) marked[to++] = bytes[from] as number;
      if (kept) marked[to++] = QUOTE;
    }
  }
  return { bytes: marked.subarray(0, to), count };
}

// What JSON does not allow must stay as it is, for JSON.parse to refuse: 007, and a number in the place of a key.
function isPlainNumber(bytes: Uint8Array, start: number, digits: number, end: number): boolean {
  if (digits > 1 && bytes[start] === ZERO) return false;
  let next = end;
  while (isSpace(bytes[next])) next++;
  return bytes[next] !== COLON;
}

const isSpace = (byte: number | undefined): boolean =>
  byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

const isDigit = (byte: number | undefined): boolean => byte !== undefined && byte >= ZERO && byte <= NINE;

const continuesNumber = (byte: number | undefined): boolean => byte === DOT || byte === 0x65 || byte === 0x45;

function endOfDigits(bytes: Uint8Array, from: number): number {
  let at = from;
  while (isDigit(bytes[at])) at++;
  return at;
}

function endOfNumber(bytes: Uint8Array, from: number): number {
  let at = from;
  while (isDigit(bytes[at]) || continuesNumber(bytes[at]) || bytes[at] === MINUS || bytes[at] === PLUS) at++;
  return at;
}

// The mark as a byte, or as the escape \u007f.
function beginsWithMark(bytes: Uint8Array, at: number): boolean {
  if (bytes[at] !== BACKSLASH) return bytes[at] === MARK;
  if (bytes[at + 1] !== 0x75 || bytes[at + 2] !== ZERO || bytes[at + 3] !== ZERO || bytes[at + 4] !== 0x37)
    return false;
  return bytes[at + 5] === 0x66 || bytes[at + 5] === 0x46;
}
