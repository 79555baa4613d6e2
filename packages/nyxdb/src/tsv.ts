import { FrameError } from './fault.js';

/** What a body of tab-separated text may be. The contract names "v1 TSV header and rows" and no more (see docs/nyxdb.md). */
export interface TsvRules {
  /** Whether the last line must be ended by LF. */
  readonly finalLf: 'optional' | 'required';
}

/** How much of one body is accepted. */
export interface TsvLimits {
  /** Rows after the header. */
  readonly maxRows: number;
  /** Columns of the header. */
  readonly maxColumns: number;
}

/** Column names and rows of cells, by position. */
export interface Table {
  readonly columns: string[];
  readonly rows: string[][];
}

/**
 * Reads a header line and rows. Cells are taken verbatim: nothing is unescaped, CR is data, and no cell is NULL.
 * The final LF ends the last line; it does not begin another one. So `a LF` has no rows and `a LF LF` has one, with one
 * empty cell.
 *
 * @throws FrameError `tsv-no-header` for an empty body, `tsv-columns` for a row of another width than the header (nothing is
 * padded), `tsv-final-lf` where the rules require it, `over-cap` past the limits.
 */
export function parseTsv(text: string, rules: TsvRules, limits: TsvLimits): Table {
  const end = text.length;
  if (end === 0) throw new FrameError('tsv-no-header');
  if (rules.finalLf === 'required' && !text.endsWith('\n')) throw new FrameError('tsv-final-lf');
  const next = (sign: string, from: number): number => {
    const at = text.indexOf(sign, from);
    return at < 0 ? end : at;
  };
  let lineEnd = next('\n', 0);
  // No text has more columns than that. The limit of `split` is 32 bits: an infinite one would be none at all.
  const columns = text.slice(0, lineEnd).split('\t', Math.min(limits.maxColumns, end) + 1);
  if (columns.length > limits.maxColumns) throw new FrameError('over-cap');
  // The next tab is looked for once and kept across lines: looked for again on every line, a body with one column and a
  // million rows would be scanned a million times to its end.
  let tab = next('\t', lineEnd);
  let cell: number;
  const last = columns.length - 1;
  const rows: string[][] = [];
  for (cell = lineEnd + 1; cell < end; cell = lineEnd + 1) {
    if (rows.length >= limits.maxRows) throw new FrameError('over-cap');
    lineEnd = next('\n', cell);
    // A copy has its size from the start: an array that grows takes twice the memory.
    const row = [...columns];
    for (let index = 0; index < last; index++) {
      // Equal only where both are the end of the text.
      if (tab >= lineEnd) throw new FrameError('tsv-columns');
      row[index] = text.slice(cell, tab);
      cell = tab + 1;
      tab = next('\t', cell);
    }
    if (tab < lineEnd) throw new FrameError('tsv-columns');
    row[last] = text.slice(cell, lineEnd);
    rows.push(row);
  }
  return { columns, rows };
}
