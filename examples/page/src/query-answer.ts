/** What `QueryResult.toJSON()` of the runtime sends: columns with their Trino type, and rows in column order. */
export interface QueryAnswer {
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  readonly rows: readonly (readonly unknown[])[];
}

export const isQueryAnswer = (value: unknown): value is QueryAnswer =>
  typeof value === 'object' &&
  value !== null &&
  'columns' in value &&
  Array.isArray(value.columns) &&
  'rows' in value &&
  Array.isArray(value.rows) &&
  value.rows.every(Array.isArray);
