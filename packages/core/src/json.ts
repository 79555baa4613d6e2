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
  const head = body.subarray(0, PROBE_BYTES);
  return places(head, 'integers', true).length > 0;
}

/**
 * Parses a whole body. With an `exactness` other than `none`, hand each value of the outcome to {@link restore} before use.
 *
 * @throws SyntaxError, TypeError or RangeError for what is not one JSON document in UTF-8. Their messages may quote the body.
 */
export function parseJson(body: Uint8Array, exactness: Exactness): unknown {
  return JSON.parse(textOf(exactness === 'none' ? body : mark(body, places(body, exactness, false))));
}

// Fatal: a body that is not UTF-8 is not the protocol's, and replaced characters would be changed data.
const textOf = (bytes: Uint8Array): string => new TextDecoder('utf-8', { fatal: true }).decode(bytes);

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
 * Where something must be written: pairs of start and end. A pair of a number is the number; an empty pair is the place
 * in a string that begins with the mark itself.
 */
function places(bytes: Uint8Array, exactness: Exactness, firstNumber: boolean): number[] {
  const found: number[] = [];
  const end = bytes.length;
  const shortest = exactness === 'numbers' ? 1 : UNSAFE_DIGITS;
  for (let at = 0; at < end; at++) {
    const byte = bytes[at] ?? 0;
    if (byte === QUOTE) {
      at++;
      if (!firstNumber && beginsWithMark(bytes, at)) found.push(at, at);
      for (let inner = bytes[at]; at < end && inner !== QUOTE; inner = bytes[at]) {
        at += inner === BACKSLASH ? 2 : 1;
      }
    } else if (byte >= ZERO && byte <= NINE) {
      const start = at;
      at = endOfDigits(bytes, at);
      const digits = at - start;
      const afterInteger = at;
      if (continuesNumber(bytes[at] ?? 0)) at = endOfNumber(bytes, at);
      if (
        digits >= shortest &&
        (at === afterInteger || exactness === 'numbers') &&
        isPlainNumber(bytes, start, digits, at)
      ) {
        found.push(bytes[start - 1] === MINUS ? start - 1 : start, at);
        if (firstNumber) return found;
      }
      at--;
    }
  }
  return found;
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

const continuesNumber = (byte: number): boolean => byte === DOT || byte === 0x65 || byte === 0x45;

function endOfDigits(bytes: Uint8Array, from: number): number {
  let at = from;
  for (let byte = bytes[at] ?? 0; byte >= ZERO && byte <= NINE; byte = bytes[at] ?? 0) at++;
  return at;
}

function endOfNumber(bytes: Uint8Array, from: number): number {
  let at = from;
  for (let byte = bytes[at] ?? 0; (byte >= ZERO && byte <= NINE) || isNumberSign(byte); byte = bytes[at] ?? 0)
    at++;
  return at;
}

const isNumberSign = (byte: number): boolean => continuesNumber(byte) || byte === MINUS || byte === 0x2b;

// The mark as a byte, or as the escape \u007f.
function beginsWithMark(bytes: Uint8Array, at: number): boolean {
  if (bytes[at] === MARK) return true;
  return (
    bytes[at] === BACKSLASH &&
    bytes[at + 1] === 0x75 &&
    bytes[at + 2] === ZERO &&
    bytes[at + 3] === ZERO &&
    bytes[at + 4] === 0x37 &&
    (bytes[at + 5] === 0x66 || bytes[at + 5] === 0x46)
  );
}

function mark(bytes: Uint8Array, found: readonly number[]): Uint8Array {
  if (found.length === 0) return bytes;
  const marked = new Uint8Array(bytes.length + (found.length / 2) * 3);
  let from = 0;
  let to = 0;
  const copy = (until: number): void => {
    marked.set(bytes.subarray(from, until), to);
    to += until - from;
    from = until;
  };
  for (let pair = 0; pair < found.length; pair += 2) {
    const start = found[pair] ?? 0;
    const end = found[pair + 1] ?? 0;
    copy(start);
    if (start < end) marked[to++] = QUOTE;
    marked[to++] = MARK;
    if (start === end) continue;
    copy(end);
    marked[to++] = QUOTE;
  }
  copy(bytes.length);
  return marked.subarray(0, to);
}
