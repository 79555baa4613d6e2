import { EndpointRowError } from './errors.js';
import { must } from './require.js';
import type { StandardSchemaIssue, StandardSchemaV1 } from './schema.js';
import type { Table } from './tsv.js';

/** The answer of `execute`. */
export interface EndpointResult<Row = Record<string, string>> {
  /** Column names, in the engine's order. They may repeat, or be empty. */
  readonly columns: string[];
  /**
   * Rows of cells, by position, verbatim. A cell is part of one large text: whoever keeps a few cells of a large answer for
   * long keeps that text, unless they copy them.
   */
  readonly rows: string[][];
  /**
   * Rows as objects by column name; with the `row` option, the schema's outputs.
   *
   * @throws TypeError when two columns have one name, or one has none.
   */
  objects(): Row[];
}

function toObjects({ columns, rows }: Table): Record<string, string>[] {
  must(new Set(columns).size === columns.length && !columns.includes(''), 'column names repeat');
  // fromEntries defines own properties: a column named __proto__ is a column.
  return rows.map((row) =>
    Object.fromEntries(columns.map((column, index) => [column, row[index] as string])),
  );
}

const toPath = (issue: StandardSchemaIssue): string =>
  (issue.path ?? []).map((step) => String((step as { key?: PropertyKey }).key ?? step)).join('.');

// Not enumerable: the answer compares, prints and serialises as `{ columns, rows }`.
const withObjects = <Row>(table: Table, objects: () => Row[]): EndpointResult<Row> =>
  Object.defineProperty(table, 'objects', { value: objects }) as Table & { objects(): Row[] };

export const toResult = (table: Table): EndpointResult => withObjects(table, () => toObjects(table));

/**
 * Validates every row.
 *
 * @throws EndpointRowError for the first row that does not fit.
 */
export async function toSchemaResult<Output>(
  table: Table,
  schema: StandardSchemaV1<unknown, Output>,
): Promise<EndpointResult<Output>> {
  const outputs: Output[] = [];
  for (const [index, object] of toObjects(table).entries()) {
    const validated = await schema['~standard'].validate(object);
    if (validated.issues) throw new EndpointRowError(index, validated.issues.map(toPath));
    outputs.push(validated.value);
  }
  return withObjects(table, () => [...outputs]);
}
