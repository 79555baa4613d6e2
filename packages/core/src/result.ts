/** What a query gives: columns, rows as arrays, and the same rows as objects or as JSON. */

import { type Column, readAnswer } from './answer.js';
import { QueryMeshError } from './errors.js';
import { toJsonValue } from './jsonable.js';
import type { BigintForm, JsonValue, Value } from './value.js';

/** How {@link QueryResult.objects} builds its objects. */
export interface ObjectsOptions {
  /** What to do when two columns have one name: throw (the default), or call the later ones `name_2`, `name_3`, … */
  duplicates?: 'throw' | 'rename' | undefined;
  /** Whether values are turned into what JSON.stringify takes, as {@link QueryResult.toJSON} does. Default false. */
  json?: boolean | undefined;
}

/** A row as an object without a schema: the column's name → its value. */
export type RowObject = { [name: string]: Value };

/** What JSON has for a row: an object, unless a schema makes something of it that is none there. */
type JsonOf<Row> = Row extends object
  ? Row extends readonly unknown[] | ReadonlySet<unknown> | Date | Uint8Array
    ? JsonValue
    : { [name: string]: JsonValue }
  : JsonValue;

/** The columns and rows of a query, decoded by type. `Row` is what `objects()` gives: the schema's output where the call had one. */
export interface QueryResult<Row = RowObject> {
  /** In the order of the query. Names may repeat. */
  columns: Column[];
  /** One array for each row, in the order of the columns. */
  rows: Value[][];
  /**
   * The rows as plain objects; with a `row` schema, its outputs.
   *
   * @throws QueryMeshError `VALIDATION_FAILED` when two columns have one name and `duplicates` is not `rename`.
   */
  objects(options?: ObjectsOptions & { json?: false | undefined }): Row[];
  objects(options: ObjectsOptions & { json: true }): JsonOf<Row>[];
  objects(options: ObjectsOptions): (Row | JsonOf<Row>)[];
  /** Columns and rows as JSON has them: bigint as its digits, Map as object, Uint8Array as base64, NaN as "NaN". */
  toJSON(): { columns: Column[]; rows: JsonValue[][] };
}

/**
 * Reads the broker's success body.
 *
 * @throws QueryMeshError `QUERYMESH_PROTOCOL_ERROR`, without the text, for a body that is not the contract's; `VALIDATION_FAILED` for an
 * unsafe bigint under `bigint: 'number'`.
 */
export function readResult(body: Uint8Array, options: { bigint?: BigintForm | undefined } = {}): QueryResult {
  const { columns, rows } = readAnswer(body, options.bigint ?? 'auto');
  return new DecodedResult<RowObject>(columns, rows, undefined);
}

/** The same result, whose objects are the outputs of a schema. */
export function withOutputs<Row>(result: QueryResult, outputs: readonly Row[]): QueryResult<Row> {
  return new DecodedResult<Row>(result.columns, result.rows, outputs);
}

class DecodedResult<Row> implements QueryResult<Row> {
  columns: Column[];
  rows: Value[][];
  readonly #outputs: readonly Row[] | undefined;

  constructor(columns: Column[], rows: Value[][], outputs: readonly Row[] | undefined) {
    this.columns = columns;
    this.rows = rows;
    this.#outputs = outputs;
  }

  objects(options?: ObjectsOptions & { json?: false | undefined }): Row[];
  objects(options: ObjectsOptions & { json: true }): JsonOf<Row>[];
  objects(options: ObjectsOptions = {}): unknown[] {
    const objects =
      this.#outputs ?? buildObjects(this.rows, keysOf(this.columns, options.duplicates ?? 'throw'));
    return options.json === true ? objects.map(toJsonValue) : [...objects];
  }

  toJSON(): { columns: Column[]; rows: JsonValue[][] } {
    return { columns: this.columns, rows: this.rows.map((row) => row.map(toJsonValue)) };
  }
}

function keysOf(columns: readonly Column[], duplicates: 'throw' | 'rename'): string[] {
  const names = columns.map((column) => column.name);
  const taken = new Set(names);
  if (taken.size === names.length) return names;
  if (duplicates !== 'rename') throw repeatedNames(names);
  // The suffix last tried for each name that was seen.
  const suffixes = new Map<string, number>();
  return names.map((name) => {
    let suffix = suffixes.get(name);
    if (suffix === undefined) {
      suffixes.set(name, 1);
      return name;
    }
    do suffix++;
    while (taken.has(`${name}_${suffix}`));
    suffixes.set(name, suffix);
    taken.add(`${name}_${suffix}`);
    return `${name}_${suffix}`;
  });
}

// A plain object and assignments: half the time of Object.fromEntries, and no code is generated from names.
function buildObjects(rows: readonly (readonly Value[])[], keys: readonly string[]): RowObject[] {
  const plain = !keys.includes('__proto__');
  return rows.map((row) => {
    const object: RowObject = {};
    for (let at = 0; at < keys.length; at++) {
      const key = keys[at] as string;
      if (plain || key !== '__proto__') object[key] = row[at] as Value;
      else define(object, key, row[at] as Value);
    }
    return object;
  });
}

// Assigned, `__proto__` would set the prototype of the row.
const define = (object: RowObject, key: string, value: Value): void => {
  Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
};

function repeatedNames(names: readonly string[]): QueryMeshError {
  const seen = new Set<string>();
  const repeated = new Set(names.filter((name) => seen.size === seen.add(name).size));
  const list = [...repeated].map((name) => JSON.stringify(name)).join(', ');
  return new QueryMeshError('VALIDATION_FAILED', {
    message: `More than one column is named ${list}: give each its own name with AS, read \`rows\`, or ask for { duplicates: 'rename' }.`,
  });
}
