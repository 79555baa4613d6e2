/** A JSON value → the value of its declared type. The wire form alone says too little: `"1.50"` is text or a decimal. */

import { type Exactness, NumberText } from './json.js';
import type { TrinoType } from './trino-type.js';
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

/** The decoder of a type; undefined is a type that could not be read, whose JSON values pass as they are. */
export function decoderOf(type: TrinoType | undefined, options: DecodeOptions): Decoder {
  switch (type?.kind) {
    case 'array':
      return arrayDecoder(decoderOf(type.item, options));
    case 'map':
      return mapDecoder(keyDecoderOf(type.key, options), decoderOf(type.value, options));
    case 'row':
      return rowDecoder(type.fields.map((field) => decoderOf(field.type, options)));
    case 'scalar':
      return scalarDecoder(type.name, options);
    default:
      return rawDecoder(options);
  }
}

function scalarDecoder(name: string, options: DecodeOptions): Decoder {
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
    case 'json':
    case 'variant':
      return jsonDecoder(options);
    default:
      return TEXT_TYPES.has(name) ? toText : rawDecoder(options);
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

const INTEGER = /^-?\d+$/;
const NUMBER = /^-?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;

const toText: Decoder = (value) => {
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

function jsonDecoder(options: DecodeOptions): Decoder {
  const raw = rawDecoder(options);
  return (value) => (typeof value === 'string' ? value : raw(value));
}

function arrayDecoder(item: Decoder): Decoder {
  return (value) => {
    if (value === null) return null;
    if (!Array.isArray(value)) throw new Misfit();
    for (let at = 0; at < value.length; at++) value[at] = item(value[at]);
    return value;
  };
}

function rowDecoder(fields: readonly Decoder[]): Decoder {
  return (value) => {
    if (value === null) return null;
    if (!Array.isArray(value) || value.length !== fields.length) throw new Misfit();
    fields.forEach((field, at) => {
      value[at] = field(value[at]);
    });
    return value;
  };
}

function mapDecoder(key: Decoder, item: Decoder): Decoder {
  return (value) => {
    if (value === null) return null;
    if (typeof value !== 'object' || Array.isArray(value) || value instanceof NumberText) throw new Misfit();
    const map = new Map<Value, Value>();
    for (const [name, inner] of Object.entries(value)) map.set(key(name), item(inner));
    return map;
  };
}

// Keys are text on the wire. Those of arrays, rows and maps are Java's toString, which nothing can read back; those of varbinary stay
// base64, since bytes as a key could never be looked up.
function keyDecoderOf(type: TrinoType, options: DecodeOptions): Decoder {
  return type.kind !== 'scalar' || type.name === 'varbinary' ? toText : scalarDecoder(type.name, options);
}

function rawDecoder({ exactness }: DecodeOptions): Decoder {
  const decode: Decoder = (value) => {
    if (typeof value === 'number') {
      if (exactness === 'none' && Number.isInteger(value) && !Number.isSafeInteger(value))
        throw new Inexact('integers');
      return value;
    }
    if (value instanceof NumberText) return plainNumber(value.text);
    if (Array.isArray(value)) {
      for (let at = 0; at < value.length; at++) value[at] = decode(value[at]);
      return value;
    }
    if (typeof value === 'object' && value !== null)
      return rawObject(value as Record<string, unknown>, decode);
    return value as null | boolean | string;
  };
  return decode;
}

function rawObject(value: Record<string, unknown>, decode: Decoder): { [name: string]: Value } {
  for (const [name, inner] of Object.entries(value)) {
    const decoded = decode(inner);
    // Assigning to `__proto__` would change the prototype; where nothing changed, nothing is written.
    if (decoded !== inner) Object.defineProperty(value, name, { value: decoded });
  }
  return value as { [name: string]: Value };
}

function plainNumber(text: string): number | bigint {
  const number = Number(text);
  return INTEGER.test(text) && !Number.isSafeInteger(number) ? BigInt(text) : number;
}

function isNumberText(value: unknown, pattern: RegExp): value is string | NumberText {
  return value instanceof NumberText
    ? pattern.test(value.text)
    : typeof value === 'string' && pattern.test(value);
}

const textOf = (value: string | NumberText): string => (typeof value === 'string' ? value : value.text);
