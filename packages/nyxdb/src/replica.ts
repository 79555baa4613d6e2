import { FrameError } from './fault.js';
import type { Delta } from './profile.js';
import type { Table } from './tsv.js';

type Row = readonly string[];
interface Chunk {
  /** In which epoch it was made: an older chunk is also some view's, and is copied before it is changed. */
  readonly epoch: number;
  /** Rows in the order they came, with holes where rows were taken out. */
  readonly rows: Row[];
  /** Which of `rows` stands at each place. */
  readonly order: number[];
}

// Chunks begin with so many rows at most: there is room for as many inserts before their places are dealt out anew.
const CHUNK_ROWS = 512;

function inOrder(chunks: readonly Chunk[]): Row[] {
  const all: Row[] = [];
  for (const { order, rows } of chunks) for (const place of order) all.push(rows[place] as Row);
  return all;
}

/**
 * The rows of one subscription, in chunks: an insert or delete moves at most one chunk's worth of places. Places are plain
 * numbers: rows that are moved cost many times as much, since the garbage collector is told of each. Views share chunks with it until
 * they change, so that taking one costs nothing per row.
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

  function pack(rows: Row[]): Chunk[] {
    const packed: Chunk[] = [];
    for (let at = 0; at < rows.length; at += CHUNK_ROWS) {
      const part = rows.slice(at, at + CHUNK_ROWS);
      packed.push({ epoch, rows: part, order: [...part.keys()] });
    }
    return packed;
  }

  function change({ op, index, row }: Delta): void {
    let at = 0;
    let chunk = chunks[0];
    // An insert at the end of a chunk belongs to it, so that appending needs no chunk of its own.
    const within = op === '+' ? 0 : 1;
    while (chunk && index + within > chunk.order.length) {
      index -= chunk.order.length;
      chunk = chunks[++at];
    }
    // The view's list still holds the old chunk.
    if (chunk?.epoch !== epoch)
      chunks[at] = chunk = { epoch, rows: chunk?.rows.slice() ?? [], order: chunk?.order.slice() ?? [] };
    const { order, rows } = chunk;
    if (op === '+') order.splice(index, 0, rows.push(row) - 1);
    // Of a removal too: its row is an empty one, and lets go of the old.
    else rows[order[index] as number] = row;
    if (op === '-') order.splice(index, 1);
    if (order.length === 0 || rows.length === 2 * CHUNK_ROWS) chunks.splice(at, 1, ...pack(inOrder([chunk])));
  }

  const replica: Replica = {
    columns: undefined,
    length: 0,
    load({ columns, rows }) {
      replica.columns = Object.freeze(columns);
      replica.length = rows.length;
      rows.forEach(Object.freeze);
      chunks = pack(rows);
    },
    apply(deltas, maxRows) {
      let { length } = replica;
      for (const { op, index, row } of deltas) {
        if (op === '+') length++;
        // A whole number from 0, in one look.
        if (index >>> 0 !== index || index >= length) throw new FrameError('delta-index');
        if (op === '-') length--;
        else if (Object.freeze(row).length !== replica.columns?.length) throw new FrameError('delta-width');
        if (length > maxRows) throw new FrameError('over-cap');
      }
      deltas.forEach(change);
      replica.length = length;
    },
    view() {
      const now = [...chunks];
      epoch++;
      return () => inOrder(now);
    },
  };
  return replica;
}
