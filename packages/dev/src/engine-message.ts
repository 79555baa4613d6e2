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

/** To the process. `cancel` is answered by the end of the query it names. */
export type ToProcess =
  | { kind: 'query'; id: number; sql: string; maxRows: number }
  | { kind: 'cancel'; id: number };

/** From the process: first `ready` or `unready`, then one answer to each query. */
export type FromProcess =
  | { kind: 'ready' }
  | { kind: 'unready'; message: string }
  | { kind: 'result'; id: number; result: EncodedResult }
  | { kind: 'failed'; id: number; code: 'QUERY_FAILED' | 'ROW_CAP'; message: string };
