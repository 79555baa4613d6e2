import type { DuckDBConnection } from '@duckdb/node-api';
import { Refusal } from './engine-refusal.js';

/** DuckDB's own syntax tree of one query. */
export type SyntaxTree = Readonly<Record<string, unknown>>;

/**
 * Table functions that only make rows. Others do things, and a read-only transaction does not stop them:
 * `enable_logging('QueryLog')` keeps everybody's statements for `duckdb_logs()` to read, `query()` and
 * `json_execute_serialized_sql()` run a text that nothing here has seen.
 */
const allowedTableFunctions = new Set(['generate_series', 'range', 'unnest']);

/**
 * Reads the syntax tree of a query without binding or running it.
 *
 * @throws {@link Refusal} when it is no single query, or calls a table function that is not on the list.
 */
export async function readSyntax(connection: DuckDBConnection, sql: string): Promise<SyntaxTree> {
  const reader = await connection.runAndReadAll('SELECT json_serialize_sql($1::VARCHAR)', [sql]);
  const syntax: SyntaxTree = JSON.parse(String(reader.value(0, 0)));
  if (syntax.error !== false) {
    const message = syntax.error_message;
    throw new Refusal(typeof message === 'string' ? message : 'The statement could not be read.');
  }
  for (const node of walk(syntax)) {
    if (node.type !== 'TABLE_FUNCTION') continue;
    const [call] = walk(node.function);
    const name = String(call?.function_name).toLowerCase();
    if (!allowedTableFunctions.has(name)) throw new Refusal(`Table function ${name} not found`);
  }
  return syntax;
}

/** Every object of the tree. Not recursive: a statement may nest deeper than the stack is. */
export function* walk(root: unknown): Generator<SyntaxTree> {
  const pending = [root];
  while (pending.length > 0) {
    const node = pending.pop();
    if (typeof node !== 'object' || node === null) continue;
    if (!Array.isArray(node)) yield node as SyntaxTree;
    for (const child of Object.values(node)) pending.push(child);
  }
}
