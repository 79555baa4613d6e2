import { FrameError } from './fault.js';
import type { Delta } from './profile.js';
import type { Table } from './tsv.js';

type Row = readonly string[];
interface Chunk {
  /** In which epoch its rows were made: an older chunk is also some view's, and is copied before it is changed. */
  readonly epoch: number;
  readonly rows: Row[];
}

const CHUNK_ROWS = 512;

/**
 * The rows of one subscription, in chunks: an insert or delete moves at most one chunk's worth of them. Views share chunks
 * with it until they change, so that taking one costs nothing per row.
 */
export interface Replica {
  /** Undefined before the first snapshot. */
  columns: readonly string[] | undefined;
  /** How many rows. */
  length: number;
  /** Replaces everything (contract: never append a new snapshot to an abandoned replica). */
  load(table: Table): void;
  /**
   * Applies a whole frame, or nothing of it.
   *
   * @throws FrameError for the first impossible change: the replica is as before.
   */
  apply(deltas: readonly Delta[], maxRows: number): void;
  /** Gives a function that copies the rows as they are now, whenever it is called. */
  view(): () => Row[];
}

export function createReplica(): Replica {
  let chunks: Chunk[] = [];
  let epoch = 0;

  function change({ op, index, row }: Delta): void {
    let at = 0;
    let chunk = chunks[0];
    // An insert at the end of a chunk belongs to it, so that appending needs no chunk of its own.
    const within = op === '+' ? 0 : 1;
    while (chunk !== undefined && index + within > chunk.rows.length) {
      index -= chunk.rows.length;
      chunk = chunks[++at];
    }
    // The view's list still holds the old chunk.
    if (chunk?.epoch !== epoch) chunks[at] = chunk = { epoch, rows: [...(chunk?.rows ?? [])] };
    const { rows } = chunk;
    if (op === '~') rows[index] = row;
    else if (op === '+') rows.splice(index, 0, row);
    else rows.splice(index, 1);
    if (rows.length === 0) chunks.splice(at, 1);
    else if (rows.length > 2 * CHUNK_ROWS) chunks.splice(at + 1, 0, { epoch, rows: rows.splice(CHUNK_ROWS) });
  }

  const replica: Replica = {
    columns: undefined,
    length: 0,
    load({ columns, rows }) {
      replica.columns = Object.freeze(columns);
      replica.length = rows.length;
      chunks = [];
      for (const row of rows) Object.freeze(row);
      for (let at = 0; at < rows.length; at += CHUNK_ROWS)
        chunks.push({ epoch, rows: rows.slice(at, at + CHUNK_ROWS) });
    },
    apply(deltas, maxRows) {
      let { length } = replica;
      for (const { op, index, row } of deltas) {
        const end = op === '+' ? length + 1 : length;
        if (!Number.isInteger(index) || index < 0 || index >= end) throw new FrameError('delta-index');
        if (op === '-') length--;
        else if (Object.freeze(row).length !== replica.columns?.length) throw new FrameError('delta-width');
        if (op === '+') length++;
        if (length > maxRows) throw new FrameError('over-cap');
      }
      for (const delta of deltas) change(delta);
      replica.length = length;
    },
    view() {
      const now = [...chunks];
      epoch++;
      // concat copies whole chunks; flatMap takes a hundred times as long.
      const none: Row[] = [];
      return () => none.concat(...now.map((chunk) => chunk.rows));
    },
  };
  return replica;
}
