import {
  type DuckDBDataChunk,
  DuckDBIntervalValue,
  type DuckDBResult,
  DuckDBTypeId,
  type DuckDBValue,
} from '@duckdb/node-api';
import { Refusal } from './engine-refusal.js';
import { encodeAt, encodeNullable, type TrinoType } from './trino-encode.js';
import { fitsBigint } from './trino-number.js';
import { monthsText } from './trino-time.js';
import { trinoType } from './trino-type.js';

/**
 * The most text one result may have, in characters: several times what 100,000 ordinary rows take, and little enough that
 * one person's result does not take the process of everybody's queries down.
 */
const maxCharacters = 64 * 1024 * 1024;

/** Collects the rows of one result as JSON text. */
export class TrinoRows {
  readonly #skip: number;
  readonly #types: TrinoType[];
  /** Columns whose Trino type depends on all of their values: kept as values until the end. */
  readonly #undecided: Map<number, DuckDBTypeId>;
  readonly #values = new Map<number, DuckDBValue[]>();
  readonly #lines: string[] = [];
  readonly #cells: string[][] = [];
  #characters = 0;
  rowCount = 0;

  /** @param skip - columns at the front that are left out. */
  constructor(result: DuckDBResult, skip = 0) {
    this.#skip = skip;
    const types = result.columnTypes().slice(skip);
    this.#types = types.map(trinoType);
    this.#undecided = new Map(
      types.flatMap(({ typeId }, index) =>
        typeId === DuckDBTypeId.HUGEINT || typeId === DuckDBTypeId.INTERVAL ? [[index, typeId] as const] : [],
      ),
    );
    for (const index of this.#undecided.keys()) this.#values.set(index, []);
  }

  add(chunk: DuckDBDataChunk): void {
    const vectors = this.#types.map((_, index) => chunk.getColumnVector(index + this.#skip));
    for (let row = 0; row < chunk.rowCount; row++) {
      const cells = vectors.map((vector, column) => {
        const values = this.#values.get(column);
        const type = this.#types[column];
        if (values === undefined && type !== undefined) return encodeAt(type, vector, row);
        values?.push(vector.getItem(row));
        return '';
      });
      if (this.#undecided.size > 0) this.#cells.push(cells);
      else this.#lines.push(`[${cells.join(',')}]`);
      for (const cell of cells) this.#characters += cell.length + 1;
      // After each row: a chunk of 2,048 long ones would be too much before its end.
      if (this.#characters > maxCharacters) {
        throw new Refusal(`The result is longer than ${maxCharacters} characters.`);
      }
    }
    this.rowCount += chunk.rowCount;
  }

  /** The Trino types of the columns and the JSON text of all rows. */
  finish(): { types: string[]; rowsJson: string } {
    for (const [column, typeId] of this.#undecided) {
      const values = this.#values.get(column) ?? [];
      const type = typeId === DuckDBTypeId.HUGEINT ? decideHuge(values) : decideInterval(values);
      this.#types[column] = type ?? (this.#types[column] as TrinoType);
      const decided = this.#types[column] as TrinoType;
      values.forEach((value, row) => {
        const cells = this.#cells[row];
        if (cells !== undefined) cells[column] = encodeNullable(decided, value);
      });
    }
    for (const cells of this.#cells) this.#lines.push(`[${cells.join(',')}]`);
    return { types: this.#types.map((type) => type.name), rowsJson: `[${this.#lines.join(',')}]` };
  }
}

/** DuckDB sums integers into a HUGEINT where Trino answers bigint: it is one while every value fits. */
function decideHuge(values: DuckDBValue[]): TrinoType | undefined {
  const fits = values.every((value) => value === null || (typeof value === 'bigint' && fitsBigint(value)));
  return fits ? { name: 'bigint', encode: String } : undefined;
}

/** DuckDB has one interval type where Trino has two. */
function decideInterval(values: DuckDBValue[]): TrinoType | undefined {
  const hasMonths = values.some((value) => value instanceof DuckDBIntervalValue && value.months !== 0);
  if (!hasMonths) return undefined;
  return {
    name: 'interval year to month',
    encode(value) {
      if (!(value instanceof DuckDBIntervalValue) || value.days !== 0 || value.micros !== 0n) {
        throw new Refusal('Intervals of months and of days in one column have no form in Trino.');
      }
      return `"${monthsText(value.months)}"`;
    },
  };
}
