/** JSON values of the types that hold no others → their values. */

import { type Exactness, NumberText } from './json.js';
import type { BigintForm, Value } from './value.js';

/** Turns one JSON value into the value of its type. */
export type Decoder = (value: unknown) => Value;

/** How the numbers of the body were kept, and what the caller wants of a bigint. */
export interface DecodeOptions {
  readonly exactness: Exactness;
  readonly bigint: BigintForm;
}

/** Thrown when the parse may have rounded a number that this type must have whole: parse again with this exactness. */
export class Inexact extends Error {
  readonly needs: Exactness;

  constructor(needs: Exactness) {
    super('A number of the body may have been rounded.');
    this.needs = needs;
  }
}

/** Thrown when a value is not one of its declared type. */
export class Misfit extends Error {}

/** Thrown for a bigint past 2^53 − 1 when the caller asked for numbers. */
export class UnsafeBigint extends Error {}

/** The decoder of a type that holds no other, by its name; undefined for a name that is not known here. */
export function scalarDecoder(name: string, options: DecodeOptions): Decoder | undefined {
  switch (name) {
    case 'boolean':
      return toBoolean;
    case 'tinyint':
    case 'smallint':
    case 'integer':
    case 'int':
      return toInteger;
    case 'bigint':
      return bigintDecoder(options);
    case 'real':
    case 'double':
      return toDouble;
    case 'decimal':
    case 'number':
      return decimalDecoder(options);
    case 'varbinary':
      return toBytes;
    default:
      return TEXT_TYPES.has(name) ? toText : undefined;
  }
}

const TEXT_TYPES: ReadonlySet<string> = new Set([
  'varchar',
  'char',
  'date',
  'time',
  'time with time zone',
  'timestamp',
  'timestamp with time zone',
  'interval year to month',
  'interval day to second',
  'uuid',
  'ipaddress',
]);

/** What `typeof` says of the cells that are their own value; undefined where every cell must be looked at. NULL always is its own. */
export function ownValueOf(name: string, exactness: Exactness): 'boolean' | 'number' | 'string' | undefined {
  if (name === 'boolean') return 'boolean';
  if (name === 'real' || name === 'double') return 'number';
  // With marks a text may be a number.
  if (exactness !== 'none') return undefined;
  return TEXT_TYPES.has(name) || name === 'decimal' || name === 'number' ? 'string' : undefined;
}

/** The digits of an integer. */
export const INTEGER = /^-?\d+$/;
// Digits fit one place of it alone, so that a long text that nearly fits is given up in one pass.
const NUMBER = /^-?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;

/** A text, as sent. */
export const toText: Decoder = (value) => {
  if (typeof value === 'string' || value === null) return value;
  throw new Misfit();
};

const toBoolean: Decoder = (value) => {
  if (typeof value === 'boolean' || value === null) return value;
  if (value === 'true') return true;
  if (value === 'false') return false;
  throw new Misfit();
};

const toInteger: Decoder = (value) => {
  if (Number.isSafeInteger(value) || value === null) return value as number | null;
  const number = isNumberText(value, INTEGER) ? Number(textOf(value)) : Number.NaN;
  if (Number.isSafeInteger(number)) return number;
  throw new Misfit();
};

const toDouble: Decoder = (value) => {
  if (typeof value === 'number' || value === null) return value;
  if (value === 'NaN' || value === 'Infinity' || value === '-Infinity') return Number(value);
  if (isNumberText(value, NUMBER)) return Number(textOf(value));
  throw new Misfit();
};

function bigintDecoder({ exactness, bigint }: DecodeOptions): Decoder {
  return (value) => {
    if (value === null) return null;
    if (typeof value === 'number') {
      if (Number.isSafeInteger(value))
        return bigint === 'auto' || bigint === 'number' ? value : fromSafe(value, bigint);
      if (exactness === 'none' && Number.isInteger(value)) throw new Inexact('integers');
      throw new Misfit();
    }
    if (!isNumberText(value, INTEGER)) throw new Misfit();
    return fromDigits(textOf(value), bigint);
  };
}

const fromSafe = (value: number, form: 'bigint' | 'string'): bigint | string =>
  form === 'bigint' ? BigInt(value) : String(value === 0 ? 0 : value);

function fromDigits(digits: string, form: BigintForm): number | bigint | string {
  if (form === 'auto' || form === 'number') {
    const number = Number(digits);
    if (Number.isSafeInteger(number)) return number;
    if (form === 'number') throw new UnsafeBigint();
  }
  const exact = BigInt(digits);
  return form === 'string' ? String(exact) : exact;
}

/** The bigint of digits as JSON writes them, 16 at least. */
export function fromLongDigits(digits: string, form: BigintForm): number | bigint | string {
  if (form === 'string') return digits;
  // Sixteen and a sign may still be safe; no zero leads, so more cannot be.
  if (digits.length <= 17 && form !== 'bigint') return fromDigits(digits, form);
  if (form === 'number') throw new UnsafeBigint();
  return BigInt(digits);
}

// Trino writes decimals as strings. Bare numbers can only come from a broker that wrote the answer anew: then the digits of the body count.
function decimalDecoder({ exactness }: DecodeOptions): Decoder {
  return (value) => {
    if (typeof value === 'string' || value === null) return value;
    if (value instanceof NumberText) return value.text;
    if (typeof value === 'number' && exactness !== 'numbers') throw new Inexact('numbers');
    throw new Misfit();
  };
}

const toBytes: Decoder = (value) => {
  if (value === null) return null;
  if (typeof value !== 'string') throw new Misfit();
  const bytes = Buffer.from(value, 'base64');
  // Buffer passes over what is not base64 without a word, so the text must come back the same.
  if (bytes.toString('base64') !== value) throw new Misfit();
  return new Uint8Array(bytes);
};

function isNumberText(value: unknown, pattern: RegExp): value is string | NumberText {
  return value instanceof NumberText
    ? pattern.test(value.text)
    : typeof value === 'string' && pattern.test(value);
}

const textOf = (value: string | NumberText): string => (typeof value === 'string' ? value : value.text);
