import type { FromProcess } from './engine-message.js';
import { Refusal } from './engine-refusal.js';
import { RowCapExceeded } from './engine-run.js';

type Failure = Pick<Extract<FromProcess, { kind: 'failed' }>, 'code' | 'message'>;

/** What the sender of a statement is told about its end. */
export function explainFailure(error: unknown, maxRows: number): Failure {
  if (error instanceof RowCapExceeded) {
    return { code: 'ROW_CAP', message: `The result has more than ${maxRows} rows.` };
  }
  if (error instanceof Refusal) return { code: 'QUERY_FAILED', message: error.message };
  return { code: 'QUERY_FAILED', message: withoutExcerpt(error instanceof Error ? error.message : '') };
}

/** DuckDB ends a message with `LINE 1: …`, a piece of the statement with a mark below it: that is cut. */
function withoutExcerpt(message: string): string {
  const at = message.search(/\n\s*LINE \d+:/);
  return (at < 0 ? message : message.slice(0, at)).trim() || 'The statement failed.';
}
