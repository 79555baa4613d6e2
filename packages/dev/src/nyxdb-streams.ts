import type { Bound } from './nyxdb-catalog.js';
import type { NyxdbDatabase } from './nyxdb-database.js';
import { diff } from './nyxdb-delta.js';
import type { ErrorText } from './nyxdb-error.js';
import { textOf } from './nyxdb-failure.js';
import type { Table } from './nyxdb-message.js';
import { writeLines, writeTable } from './nyxdb-tsv.js';

/** Who is told of a maintained result. */
export interface Subscriber {
  snapshot(body: string): void;
  delta(body: string): void;
  /** Nothing more comes. */
  failed(text: ErrorText): void;
  /** Nothing more comes, and nothing went wrong. */
  ended(): void;
}

/** One statement with its values, kept up to date for everybody who subscribed to it. */
interface Maintained {
  readonly bound: Bound;
  table: Table;
  readonly subscribers: Set<Subscriber>;
}

/**
 * Maintained results. Writes and first snapshots go one after the other, so that a subscriber gets every change after
 * its snapshot and none twice.
 */
export class Streams {
  readonly #database: NyxdbDatabase;
  readonly #maxRows: number;
  readonly #maintained = new Map<string, Maintained>();
  #last: Promise<unknown> = Promise.resolve();
  #drained = new AbortController();

  constructor(database: NyxdbDatabase, maxRows: number) {
    this.#database = database;
    this.#maxRows = maxRows;
  }

  /** Whether anybody is subscribed. */
  get live(): boolean {
    return this.#maintained.size > 0;
  }

  /** Fires at the next `end`: whoever looked an endpoint up before that may have found what is no longer to be run. */
  get drained(): AbortSignal {
    return this.#drained.signal;
  }

  /**
   * Sends a snapshot and from then on every change, until the function returned is called. The statement and its values
   * stay as they are, whatever becomes of the endpoint (contract, "Reconnect and reconciliation").
   *
   * @param drained - as it was when the endpoint was looked up
   */
  subscribe(
    bound: Bound,
    subscriber: Subscriber,
    signal: AbortSignal,
    drained: AbortSignal,
  ): Promise<() => void> {
    return this.#inTurn(async () => {
      const key = JSON.stringify(bound);
      const existing = this.#maintained.get(key);
      const table =
        existing?.table ?? (await this.#database.select(bound.sql, bound.bindings, this.#maxRows, signal));
      const body = writeTable(table);
      signal.throwIfAborted();
      if (drained.aborted) {
        subscriber.ended();
        return () => {};
      }
      const maintained = existing ?? { bound, table, subscribers: new Set() };
      this.#maintained.set(key, maintained);
      maintained.subscribers.add(subscriber);
      subscriber.snapshot(body);
      return () => {
        maintained.subscribers.delete(subscriber);
        if (maintained.subscribers.size === 0) this.#maintained.delete(key);
      };
    });
  }

  /** Runs statements, all of them or none; settles when every subscriber's deltas are sent. */
  write(sql: string): Promise<void> {
    return this.#inTurn(async () => {
      await this.#database.write(sql);
      await Promise.all([...this.#maintained.values()].map((maintained) => this.#refresh(maintained)));
    });
  }

  /** Ends every subscription with the end frame: those that wait for their first snapshot in place of it. */
  end(): void {
    this.#drained.abort();
    this.#drained = new AbortController();
    for (const { subscribers } of this.#maintained.values())
      for (const subscriber of [...subscribers]) subscriber.ended();
  }

  async #refresh(maintained: Maintained): Promise<void> {
    const { bound, table: before, subscribers } = maintained;
    try {
      const never = new AbortController().signal;
      const after = await this.#database.select(bound.sql, bound.bindings, this.#maxRows, never);
      maintained.table = after;
      if (after.columns.join('\t') !== before.columns.join('\t')) {
        const body = writeTable(after);
        for (const subscriber of [...subscribers]) subscriber.snapshot(body);
        return;
      }
      const lines = diff(before.rows, after.rows);
      if (lines.length === 0) return;
      const body = writeLines(lines);
      for (const subscriber of [...subscribers]) subscriber.delta(body);
    } catch (error) {
      for (const subscriber of [...subscribers]) subscriber.failed(textOf(error));
    }
  }

  #inTurn<Result>(task: () => Promise<Result>): Promise<Result> {
    const turn = this.#last.then(task);
    this.#last = turn.catch(() => undefined);
    return turn;
  }
}
