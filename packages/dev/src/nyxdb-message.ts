/** What the NYXDB engine and the process of its database say to each other, over Node's IPC channel. */

/** The SQL types of parameters and claims (ours: the contract names none). */
export type NyxdbType = 'VARCHAR' | 'BIGINT' | 'DOUBLE' | 'BOOLEAN' | 'DATE' | 'TIMESTAMP';

/** A value for `$name` in a statement: text that is already known to be of the type. */
export interface Binding {
  readonly name: string;
  readonly type: NyxdbType;
  readonly text: string;
}

/** A whole result as text cells; NULL is an empty cell (design N10: ours). */
export interface Table {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/**
 * - `check`: the statement is one SELECT whose parameters are all among `parameters`; the answer is empty.
 * - `select`: runs it.
 * - `write`: runs any statements, all of them or none; the answer is empty.
 */
export type Question =
  | {
      readonly kind: 'check';
      readonly id: number;
      readonly sql: string;
      readonly parameters: readonly string[];
    }
  | {
      readonly kind: 'select';
      readonly id: number;
      readonly sql: string;
      readonly bindings: readonly Binding[];
      readonly maxRows: number;
    }
  | { readonly kind: 'write'; readonly id: number; readonly sql: string };
