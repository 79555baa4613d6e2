import { FrameError } from './fault.js';
import type { Delta } from './profile.js';
import type { Table } from './tsv.js';

type Row = readonly string[];
interface Chunk {
  /** In which epoch its rows were made: an older chunk is also some view's, and is copied before it is changed. */
  epoch: number;
  rows: Row[];
}

const CHUNK_ROWS = 512;

/**
 * The rows of one subscription, in chunks: an insert or delete moves at most one chunk's worth of them. Views share chunks
 * with it until they change, so that taking one costs nothing per row.
 */
export class Replica {
  columns: readonly string[] | undefined;
  length = 0;
  #chunks: Chunk[] = [];
  #epoch = 0;

  /** Replaces everything (contract: never append a new snapshot to an abandoned replica). */
  load({ columns, rows }: Table): void {
    this.columns = Object.freeze(columns);
    this.length = rows.length;
    this.#chunks = [];
    for (let at = 0; at < rows.length; at += CHUNK_ROWS)
      this.#chunks.push({ epoch: this.#epoch, rows: rows.slice(at, at + CHUNK_ROWS) });
    for (const row of rows) Object.freeze(row);
  }

  /**
   * Applies a whole frame, or nothing of it.
   *
   * @throws FrameError for the first impossible change: the replica is as before.
   */
  apply(deltas: readonly Delta[], maxRows: number): void {
    let { length } = this;
    for (const delta of deltas) {
      const end = delta.op === 'insert' ? length + 1 : length;
      if (!Number.isInteger(delta.index) || delta.index < 0 || delta.index >= end)
        throw new FrameError('delta-index');
      if (delta.op === 'delete') length--;
      else if (delta.row.length !== this.columns?.length) throw new FrameError('delta-width');
      if (delta.op === 'insert') length++;
      if (length > maxRows) throw new FrameError('over-cap');
    }
    for (const delta of deltas) this.#change(delta);
    this.length = length;
  }

  /** Gives a function that copies the rows as they are now, whenever it is called. */
  view(): () => Row[] {
    const chunks = [...this.#chunks];
    this.#epoch++;
    return () => chunks.flatMap((chunk) => chunk.rows);
  }

  #change(delta: Delta): void {
    let at = 0;
    let { index } = delta;
    let chunk = this.#chunks[0];
    // An insert at the end of a chunk belongs to it, so that appending needs no chunk of its own.
    const within = delta.op === 'insert' ? 0 : 1;
    while (chunk !== undefined && index + within > chunk.rows.length) {
      index -= chunk.rows.length;
      chunk = this.#chunks[++at];
    }
    if (chunk?.epoch !== this.#epoch) {
      // A copy in place of the shared array object: the view's list still holds the old chunk.
      chunk = { epoch: this.#epoch, rows: chunk === undefined ? [] : [...chunk.rows] };
      this.#chunks[at] = chunk;
    }
    const { rows } = chunk;
    if (delta.op === 'update') rows[index] = Object.freeze(delta.row);
    else if (delta.op === 'insert') rows.splice(index, 0, Object.freeze(delta.row));
    else rows.splice(index, 1);
    if (rows.length === 0) this.#chunks.splice(at, 1);
    else if (rows.length > 2 * CHUNK_ROWS)
      this.#chunks.splice(at + 1, 0, { epoch: this.#epoch, rows: rows.splice(CHUNK_ROWS) });
  }
}
