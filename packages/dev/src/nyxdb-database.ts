import { EngineChild } from './engine-child.js';
import { SqlEngineError } from './engine-error.js';
import type { Binding, Question, Table } from './nyxdb-message.js';

/** Statements at the same time, beyond those that are admitted for clients: checks and writes of the developer. */
const threads = 8;

type WithoutId<T> = T extends unknown ? Omit<T, 'id'> : never;

/**
 * The engine's own, writable database: a process of its own beside the broker's, so that what is written here is never
 * in reach of a QueryMesh query. It starts with the first statement; after a crash the next statement starts a new one,
 * with the tables as they were at first.
 */
export class NyxdbDatabase {
  readonly #tables: readonly string[];
  #child: Promise<EngineChild<Question, Table>> | undefined;
  #closed = false;
  #lastId = 0;

  /** @param tables - the statements that make and fill the tables, in order. */
  constructor(tables: readonly string[]) {
    this.#tables = tables;
  }

  /** @throws SqlEngineError whose message says to the developer what is wrong with the statement. */
  async check(sql: string, parameters: readonly string[]): Promise<void> {
    await this.#ask({ kind: 'check', sql, parameters });
  }

  /** @throws SqlEngineError; `ABORTED` when the signal fired, once the statement has ended. */
  select(sql: string, bindings: readonly Binding[], maxRows: number, signal: AbortSignal): Promise<Table> {
    return this.#ask({ kind: 'select', sql, bindings, maxRows }, signal);
  }

  /** @throws SqlEngineError; nothing was changed then. */
  async write(sql: string): Promise<void> {
    await this.#ask({ kind: 'write', sql });
  }

  /** Ends the process; what still runs fails. */
  async close(): Promise<void> {
    this.#closed = true;
    const child = await this.#child?.catch(() => undefined);
    await child?.kill();
  }

  async #ask(question: WithoutId<Question>, signal?: AbortSignal): Promise<Table> {
    const child = await this.#living();
    if (signal?.aborted) throw aborted();
    const id = ++this.#lastId;
    const cancel = () => child.cancel(id);
    signal?.addEventListener('abort', cancel);
    try {
      return await child.run({ ...question, id });
    } catch (error) {
      throw signal?.aborted ? aborted() : error;
    } finally {
      signal?.removeEventListener('abort', cancel);
    }
  }

  #living(): Promise<EngineChild<Question, Table>> {
    if (this.#closed) return Promise.reject(new SqlEngineError('CLOSED', 'The engine was closed.'));
    if (this.#child !== undefined) return this.#child;
    const forget = () => {
      if (this.#child === starting) this.#child = undefined;
    };
    const starting = this.#start();
    this.#child = starting;
    starting.then((child) => child.exited.then(forget), forget);
    return starting;
  }

  async #start(): Promise<EngineChild<Question, Table>> {
    const child = await EngineChild.start<Question, Table>('nyxdb-process.js', threads);
    try {
      for (const sql of this.#tables) await child.run({ kind: 'write', id: ++this.#lastId, sql });
      return child;
    } catch (error) {
      await child.kill();
      throw error;
    }
  }
}

function aborted(): SqlEngineError {
  return new SqlEngineError('ABORTED', 'The statement was given up by its caller.');
}
