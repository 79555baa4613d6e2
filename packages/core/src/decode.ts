/** A JSON value → the value of its declared type. The wire form alone says too little: `"1.50"` is text or a decimal. */

import { markedDigits, NumberText, restore } from './json.js';
import {
  type DecodeOptions,
  type Decoder,
  fromLongDigits,
  INTEGER,
  Inexact,
  Misfit,
  ownValueOf,
  scalarDecoder,
  toText,
} from './scalar.js';
import type { TrinoType } from './trino-type.js';
import type { Value } from './value.js';

/** How the cells of a column are read. */
export interface ColumnReader {
  /** For cells as `parseJson` gives them: marks are undone. */
  readonly decode: Decoder;
  /** Cells of this `typeof`, and NULL, are their own value: most cells of most results, which then cost no call. */
  readonly own: 'boolean' | 'number' | 'string' | undefined;
}

/** The reader of a column of a type; undefined is a type that could not be read. */
export function columnReader(type: TrinoType | undefined, options: DecodeOptions): ColumnReader {
  const own = type?.kind === 'scalar' ? ownValueOf(type.name, options.exactness) : undefined;
  return { own, decode: markedDecoder(type, options) };
}

function markedDecoder(type: TrinoType | undefined, options: DecodeOptions): Decoder {
  const decode = decoderOf(type, options);
  if (options.exactness === 'none') return decode;
  const decodeRestored: Decoder = (cell) => decode(restore(cell));
  if (options.exactness !== 'integers' || type?.kind !== 'scalar' || type.name !== 'bigint') {
    return decodeRestored;
  }
  // What a body with long integers is full of.
  return (cell) => {
    const digits = markedDigits(cell);
    return digits === undefined ? decodeRestored(cell) : fromLongDigits(digits, options.bigint);
  };
}

/** The decoder of a type; undefined is a type that could not be read, whose JSON values pass as they are. */
function decoderOf(type: TrinoType | undefined, options: DecodeOptions): Decoder {
  switch (type?.kind) {
    case 'array':
      return arrayDecoder(decoderOf(type.item, options));
    case 'map':
      return mapDecoder(keyDecoderOf(type.key, options), decoderOf(type.value, options));
    case 'row':
      return rowDecoder(type.fields.map((field) => decoderOf(field.type, options)));
    case 'scalar':
      if (type.name === 'json' || type.name === 'variant') return jsonDecoder(options);
      return scalarDecoder(type.name, options) ?? rawDecoder(options);
    default:
      return rawDecoder(options);
  }
}

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
  const decoder =
    type.kind === 'scalar' && type.name !== 'varbinary' ? scalarDecoder(type.name, options) : undefined;
  return decoder ?? toText;
}

// Deeper than any data, and far from the end of the stack, for JSON.stringify too: a result always serialises.
const DEEPEST = 500;

function rawDecoder({ exactness }: DecodeOptions): Decoder {
  const decode = (value: unknown, depth: number): Value => {
    if (typeof value === 'number') {
      if (exactness === 'none' && Number.isInteger(value) && !Number.isSafeInteger(value))
        throw new Inexact('integers');
      return value;
    }
    if (value instanceof NumberText) return plainNumber(value.text);
    if (typeof value !== 'object' || value === null) return value as null | boolean | string;
    if (depth === DEEPEST) throw new Misfit();
    const inside: Decoder = (inner) => decode(inner, depth + 1);
    if (!Array.isArray(value)) return rawObject(value as Record<string, unknown>, inside);
    for (let at = 0; at < value.length; at++) value[at] = inside(value[at]);
    return value;
  };
  return (value) => decode(value, 0);
}

function rawObject(value: Record<string, unknown>, decode: Decoder): { [name: string]: Value } {
  for (const [name, inner] of Object.entries(value)) {
    // The member is there already, as its own: assigning to it, `__proto__` included, reaches no setter.
    value[name] = decode(inner);
  }
  return value as { [name: string]: Value };
}

function plainNumber(text: string): number | bigint {
  const number = Number(text);
  return INTEGER.test(text) && !Number.isSafeInteger(number) ? BigInt(text) : number;
}
