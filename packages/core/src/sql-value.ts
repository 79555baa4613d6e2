/** Any value of a placeholder → its literal. Read by what the language itself knows of it, never by methods that the value may bring along. */

import { bigintLiteral, bytesLiteral, instantLiteral, numberLiteral, quoteText } from './sql-literal.js';

/** A value that has a literal. `Fragment` is SQL that stands for itself. */
export type PlainSqlValue<Fragment> =
  | string
  | number
  | bigint
  | boolean
  | null
  | Date
  | Uint8Array
  | Fragment
  | readonly PlainSqlValue<Fragment>[];

/** The text of a value that is SQL already; undefined for every other. */
export type FragmentReader = (value: unknown) => string | undefined;

// Deeper than any array of SQL, and far from the end of the stack: an array may hold itself.
const DEEPEST = 32;
const LONGEST = 1_000_000;

/** The literal of a value. @throws TypeError for a value without one; its message never holds the value. */
export function valueLiteral(value: unknown, fragmentText: FragmentReader, depth = 0): string {
  switch (typeof value) {
    case 'string':
      return quoteText(value);
    case 'number':
      return numberLiteral(value);
    case 'bigint':
      return bigintLiteral(value);
    case 'boolean':
      return value ? 'TRUE' : 'FALSE';
    case 'object':
      return value === null ? 'NULL' : objectLiteral(value, fragmentText, depth);
    default:
      throw new TypeError(`a value of type ${typeof value} has no SQL literal`);
  }
}

function objectLiteral(value: object, fragmentText: FragmentReader, depth: number): string {
  const fragment = fragmentText(value);
  if (fragment !== undefined) return fragment;
  if (Array.isArray(value)) return `ARRAY[${literalsOf(value, fragmentText, 'an array', depth + 1)}]`;
  const epochMs = epochMsOf(value);
  if (epochMs !== undefined) return instantLiteral(epochMs);
  // A copy of the buffer behind it: a subclass may claim another length.
  if (isBytes(value)) return bytesLiteral(new Uint8Array(value));
  throw new TypeError('an object has no SQL literal: name each of its values');
}

/** The literals of an array, between commas. @throws TypeError for an empty one, or one with holes. */
export function literalsOf(
  values: readonly unknown[],
  fragmentText: FragmentReader,
  what: string,
  depth = 0,
): string {
  const { length } = values;
  if (depth > DEEPEST) throw new TypeError('an array is nested too deeply');
  // A proxy may claim any length.
  if (!Number.isSafeInteger(length) || length > LONGEST) throw new TypeError(`${what} is too long`);
  if (length === 0) {
    throw new TypeError(
      `${what} is empty, so its type is unknown: use sql.emptyArray, or leave the condition out`,
    );
  }
  const literals: string[] = [];
  for (let at = 0; at < length; at++) {
    // A hole reads as undefined, which has no literal.
    literals.push(valueLiteral(values[at], fragmentText, depth));
  }
  return literals.join(', ');
}

const getTime = Date.prototype.getTime;

// A Date by its internal slot: a subclass may answer anything to the methods it overrides.
function epochMsOf(value: object): number | undefined {
  try {
    return Reflect.apply(getTime, value, []) as number;
  } catch {
    return undefined;
  }
}

const typedArrayName = Object.getOwnPropertyDescriptor(
  Object.getPrototypeOf(Uint8Array.prototype),
  Symbol.toStringTag,
)?.get;

const isBytes = (value: object): value is Uint8Array =>
  typedArrayName !== undefined && Reflect.apply(typedArrayName, value, []) === 'Uint8Array';
