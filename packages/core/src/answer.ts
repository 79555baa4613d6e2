/** The broker's body → columns and decoded rows, or one typed error without its text. */

import { type ColumnReader, columnReader } from './decode.js';
import { QueryMeshError } from './errors.js';
import { beginsWithLongInteger, type Exactness, parseJson, restore } from './json.js';
import { Inexact, Misfit, UnsafeBigint } from './scalar.js';
import { parseTrinoType } from './trino-type.js';
import type { BigintForm, Value } from './value.js';

/** A column of a result: its name, and its type as Trino writes it (`timestamp(6) with time zone`). */
export interface Column {
  name: string;
  type: string;
}

/** The success body of `POST /v1/querymesh/query`, decoded. */
export interface Answer {
  readonly columns: Column[];
  readonly rows: Value[][];
}

/**
 * Reads a whole body.
 *
 * @throws QueryMeshError `QUERYMESH_PROTOCOL_ERROR` when it is not one JSON document of the contract's shape, or a cell does not fit its
 * column's type; `VALIDATION_FAILED` when a bigint is unsafe and numbers were asked for.
 */
export function readAnswer(body: Uint8Array, bigint: BigintForm): Answer {
  let exactness: Exactness = beginsWithLongInteger(body) ? 'integers' : 'none';
  for (;;) {
    try {
      return decodeBody(body, exactness, bigint);
    } catch (error) {
      if (!(error instanceof Inexact)) throw error instanceof QueryMeshError ? error : protocolError();
      // The first document is unreachable by now: two of them alive at once cost more than the second parse.
      exactness = error.needs;
    }
  }
}

function decodeBody(body: Uint8Array, exactness: Exactness, bigint: BigintForm): Answer {
  const document = parseJson(body, exactness);
  if (!isObject(document)) throw protocolError('the body is not an object');
  const columns = readColumns(exactness === 'none' ? document.columns : restore(document.columns));
  const rows: unknown = document.rows;
  if (!Array.isArray(rows)) throw protocolError('`rows` is not an array');
  const readers = columns.map((column) => columnReader(parseTrinoType(column.type), { exactness, bigint }));
  for (let at = 0; at < rows.length; at++) decodeRow(rows[at], at, columns, readers);
  return { columns, rows };
}

function readColumns(value: unknown): Column[] {
  if (!Array.isArray(value)) throw protocolError('`columns` is not an array');
  return value.map((column: unknown) => {
    if (!isObject(column) || typeof column.name !== 'string' || typeof column.type !== 'string') {
      throw protocolError('a column has no name or no type');
    }
    return { name: column.name, type: column.type };
  });
}

function decodeRow(
  row: unknown,
  rowIndex: number,
  columns: readonly Column[],
  readers: readonly ColumnReader[],
): void {
  if (!Array.isArray(row) || row.length !== readers.length) {
    throw protocolError(`row ${rowIndex} has not one cell for each column`);
  }
  let at = 0;
  try {
    for (; at < readers.length; at++) {
      const { own, decode } = readers[at] as ColumnReader;
      const cell: unknown = row[at];
      if (cell === null || typeof cell === own) continue;
      const value = decode(cell);
      if (value !== cell) row[at] = value;
    }
  } catch (error) {
    if (error instanceof Misfit) throw protocolError(`row ${rowIndex}, cell ${at} does not fit its type`);
    if (error instanceof UnsafeBigint) throw unsafeBigint(columns[at]?.name ?? '');
    throw error;
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

// No cause: the message of a parse error quotes the body.
function protocolError(where = 'it is not one JSON document'): QueryMeshError {
  return new QueryMeshError('QUERYMESH_PROTOCOL_ERROR', {
    message: `The answer of the broker is not of the protocol: ${where}.`,
  });
}

function unsafeBigint(column: string): QueryMeshError {
  return new QueryMeshError('VALIDATION_FAILED', {
    message: `Column ${JSON.stringify(column)} holds a bigint past 2^53 - 1, and \`bigint: 'number'\` was asked for.`,
  });
}
