/** A decoded `row` value, an array in field order → an object by field names. */

import { parseTrinoType, type RowField, type TrinoType } from './trino-type.js';
import type { Value } from './value.js';

/**
 * Turns each `row` in a value, nested ones too, into an object by the names of its fields. A field without a name is `field0`, `field1`, …
 * by position, as in Trino's JDBC driver. The value given stays as it is.
 *
 * @param type the type of the column: `result.columns[0].type`.
 * @throws TypeError when two fields of a row have one name, and when the type has no rows or the value is not of it.
 */
export function rowToObject(value: Value, type: string): Value {
  const parsed = parseTrinoType(type);
  if (parsed === undefined || !holdsRow(parsed))
    throw new TypeError('rowToObject takes the type of a column that holds rows');
  return named(value, parsed);
}

function holdsRow(type: TrinoType): boolean {
  if (type.kind === 'array') return holdsRow(type.item);
  if (type.kind === 'map') return holdsRow(type.value);
  return type.kind === 'row';
}

function named(value: Value, type: TrinoType): Value {
  if (value === null || !holdsRow(type)) return value;
  if (type.kind === 'map' && value instanceof Map) {
    return new Map([...value].map(([key, inner]) => [key, named(inner, type.value)]));
  }
  if (type.kind === 'array' && Array.isArray(value)) return value.map((inner) => named(inner, type.item));
  if (type.kind === 'row' && Array.isArray(value) && value.length === type.fields.length) {
    return objectOf(value, type.fields);
  }
  throw new TypeError('rowToObject takes a value as the result gave it');
}

function objectOf(values: readonly Value[], fields: readonly RowField[]): Value {
  const names = fields.map((field, at) => field.name ?? `field${at}`);
  if (new Set(names).size < names.length)
    throw new TypeError('two fields of a row have one name: read it by position');
  // fromEntries defines: a field `__proto__` stays a field.
  return Object.fromEntries(
    fields.map((field, at) => [names[at] ?? '', named(values[at] ?? null, field.type)]),
  );
}
