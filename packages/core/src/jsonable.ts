/** Any decoded value → one that JSON.stringify takes, with nothing lost and nothing thrown. */

import type { JsonValue } from './value.js';

/** BigInt → its digits, NaN and the infinities → their names, Uint8Array → base64, Map → object, Set → array. What JSON has already stays as it is. */
export function toJsonValue(value: unknown): JsonValue {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'number':
      return Number.isFinite(value) ? value : String(value);
    case 'bigint':
      return String(value);
    case 'object':
      return value === null ? null : ofObject(value);
    default:
      return null;
  }
}

function ofObject(value: object): JsonValue {
  if (Array.isArray(value)) return value.map(toJsonValue);
  // Only a schema makes one; as an object it would be empty.
  if (value instanceof Set) return [...value].map(toJsonValue);
  if (value instanceof Uint8Array)
    return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64');
  if (value instanceof Map) return ofEntries([...value].map(([key, inner]) => [String(key), inner]));
  if ('toJSON' in value && typeof value.toJSON === 'function') return toJsonValue(value.toJSON());
  return ofEntries(Object.entries(value));
}

// fromEntries defines: a key `__proto__` stays a key.
function ofEntries(entries: readonly (readonly [string, unknown])[]): { [name: string]: JsonValue } {
  return Object.fromEntries(entries.map(([key, inner]) => [key, toJsonValue(inner)]));
}
