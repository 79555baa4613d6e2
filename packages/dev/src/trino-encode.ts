import type { DuckDBValue, DuckDBVector } from '@duckdb/node-api';

/** How a DuckDB type looks from Trino: its type text and the JSON text of its values. */
export interface TrinoType {
  /** As in `columns[].type`. */
  name: string;
  /** The JSON text of one value that is not null. */
  encode(value: NonNullable<DuckDBValue>): string;
  /** The JSON text of one place in a vector, null included; only where `encode` cannot see enough. */
  encodeAt?: ((vector: DuckDBVector, index: number) => string) | undefined;
}

/** The JSON text of one place in a vector. */
export function encodeAt(type: TrinoType, vector: DuckDBVector, index: number): string {
  return type.encodeAt?.(vector, index) ?? encodeNullable(type, vector.getItem(index));
}

/** The JSON text of one value, or `null`. */
export function encodeNullable(type: TrinoType, value: DuckDBValue): string {
  return value === null ? 'null' : type.encode(value);
}
