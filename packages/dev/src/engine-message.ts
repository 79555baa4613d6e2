/** What the engine and its process say to each other, over Node's IPC channel. */

/** A result column: its name and its Trino type. */
export interface ResultColumn {
  name: string;
  type: string;
}

/** A whole result: `rowsJson` is the JSON text of an array of arrays, one item per column. */
export interface EncodedResult {
  columns: ResultColumn[];
  rowsJson: string;
  rowCount: number;
}

/** What the process of the built-in tables is asked. */
export interface Query {
  readonly kind: 'query';
  readonly id: number;
  readonly sql: string;
  readonly maxRows: number;
}

/** To a process. `cancel` is answered by the end of the question it names. */
export type ToProcess<Question = Query> = Question | { readonly kind: 'cancel'; readonly id: number };

/** From a process: first `ready` or `unready`, then one answer to each question. */
export type FromProcess<Result = EncodedResult> =
  | { kind: 'ready' }
  | { kind: 'unready'; message: string }
  | { kind: 'result'; id: number; result: Result }
  | { kind: 'failed'; id: number; code: 'QUERY_FAILED' | 'ROW_CAP'; message: string };
