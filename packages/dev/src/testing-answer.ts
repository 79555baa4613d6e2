/** A value as Trino writes it in JSON; a bigint is written with all its digits. */
export type TestCell =
  | null
  | boolean
  | number
  | bigint
  | string
  | readonly TestCell[]
  | { readonly [key: string]: TestCell };

/** A result of QueryMesh, in the form of the runtime protocol. */
export interface TestAnswer {
  /** Name and Trino type (`varchar`, `bigint`, `decimal(18,2)` …), in column order. */
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  /** One array for each row, one value for each column. */
  readonly rows: readonly (readonly TestCell[])[];
}

/**
 * The body of a successful answer.
 *
 * @throws TypeError when the answer is not of the protocol's form: a test must not pass on what no broker sends. The
 * message tells where, never a value.
 */
export function encodeAnswer({ columns, rows }: TestAnswer): string {
  if (!Array.isArray(columns) || !Array.isArray(rows))
    throw new TypeError('an answer is { columns: [{ name, type }], rows: [[…]] }');
  for (const { name, type } of columns) {
    if (typeof name !== 'string' || typeof type !== 'string')
      throw new TypeError('a column has a name and a type, both texts');
  }
  const rowTexts = rows.map((row: readonly TestCell[], index) => {
    if (!Array.isArray(row) || row.length !== columns.length)
      throw new TypeError(`row ${index} must be an array of ${columns.length} values, one for each column`);
    return encodeCell(row, `row ${index}`);
  });
  const names = columns.map(({ name, type }) => ({ name, type }));
  return `{"columns":${JSON.stringify(names)},"rows":[${rowTexts.join()}]}`;
}

// JSON.stringify has no bigint, turns NaN into null and leaves undefined out: each would be an answer nobody wrote.
function encodeCell(cell: unknown, where: string): string {
  if (typeof cell === 'bigint') return String(cell);
  if (cell === null || typeof cell === 'boolean' || typeof cell === 'string') return JSON.stringify(cell);
  if (typeof cell === 'number') {
    if (Number.isFinite(cell)) return JSON.stringify(cell);
    throw new TypeError(
      `${where} holds a number that is not finite: Trino writes "NaN", "Infinity" and "-Infinity"`,
    );
  }
  if (Array.isArray(cell)) return `[${Array.from(cell, (item: unknown) => encodeCell(item, where)).join()}]`;
  if (typeof cell === 'object' && Object.getPrototypeOf(cell) === Object.prototype) {
    const members = Object.entries(cell).map(
      ([key, value]) => `${JSON.stringify(key)}:${encodeCell(value, where)}`,
    );
    return `{${members.join()}}`;
  }
  throw new TypeError(`${where} holds a value that is not JSON: dates, times and decimals are texts`);
}
