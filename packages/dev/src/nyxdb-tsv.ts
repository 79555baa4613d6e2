import { errorText, RequestError } from './nyxdb-error.js';
import type { Table } from './nyxdb-message.js';

/** The most a body may have: what the client accepts by default. */
const maxBodyBytes = 16 * 1024 * 1024;

/** One cell after another; a cell that would read as two is refused, never escaped (design N10). */
export function writeCells(cells: readonly string[]): string {
  for (const cell of cells) if (/[\t\n\r]/.test(cell)) throw new RequestError(errorText.cellRefused);
  return cells.join('\t');
}

/**
 * The v1 TSV of a result: the header line, then one line per row, each ended by LF.
 *
 * @throws RequestError for a cell that is not representable, or a body that is too large
 */
export function writeTable({ columns, rows }: Table): string {
  return writeLines([writeCells(columns), ...rows.map(writeCells)]);
}

export function writeLines(lines: readonly string[]): string {
  const body = `${lines.join('\n')}\n`;
  if (Buffer.byteLength(body) > maxBodyBytes) throw new RequestError(errorText.resultTooLarge);
  return body;
}
