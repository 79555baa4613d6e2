import { EngineChild } from './engine-child.js';
import { SqlEngineError } from './engine-error.js';
import type { EncodedResult, Query, ResultColumn } from './engine-message.js';

export { SqlEngineError, type SqlEngineErrorCode } from './engine-error.js';

/** Runs read-only SQL over the built-in tables `tpch.tiny.*`, and answers as Trino writes its results. */
export interface SqlEngine {
  /**
   * Runs one read-only statement.
   *
   * @returns the columns with their Trino types, and the JSON text of the `rows` array.
   * @throws {@link SqlEngineError}, whose message may go to the caller but never to a log.
   */
  query(
    sql: string,
    options: {
      /** The most rows brought back; with more, the statement is cancelled (`ROW_CAP`). */
      maxRows: number;
      /** How long it may take, waiting included. Default: the engine's own `timeoutMs`. */
      timeoutMs?: number | undefined;
      /** Ends it (`ABORTED`). */
      signal?: AbortSignal | undefined;
    },
  ): Promise<{ columns: ResultColumn[]; rowsJson: string; rowCount: number }>;
  /** Ends every statement (`CLOSED`) and the engine's process; settles when the process is gone. */
  close(): Promise<void>;
}

/** Limits of the engine. */
export interface SqlEngineOptions {
  /** Statements run at the same time. Default 3. */
  maxConcurrent?: number | undefined;
  /** Statements that may wait for their turn; one more is `BUSY`. Default 16. */
  maxQueued?: number | undefined;
  /** How long a statement may take, waiting included, in milliseconds. Default 120,000. */
  timeoutMs?: number | undefined;
  /** How long an ended statement may keep its place before the process is ended too. Default 5,000. */
  graceMs?: number | undefined;
}

type Child = EngineChild<Query, EncodedResult>;

interface Job {
  readonly id: number;
  readonly sql: string;
  readonly maxRows: number;
  started: boolean;
  /** Gives the caller the outcome, once; the place is kept until the process has let go. */
  settle(outcome: EncodedResult | SqlEngineError): void;
  settled: boolean;
}

/**
 * Starts the engine's process and waits until it answers.
 *
 * @throws {@link SqlEngineError} `CRASHED` when it cannot start.
 */
export async function createSqlEngine(options: SqlEngineOptions = {}): Promise<SqlEngine> {
  const engine = new ChildEngine(options);
  await engine.start();
  return engine;
}

class ChildEngine implements SqlEngine {
  readonly #maxConcurrent: number;
  readonly #maxQueued: number;
  readonly #timeoutMs: number;
  readonly #graceMs: number;
  readonly #queue: Job[] = [];
  readonly #running = new Set<Job>();
  #child: Promise<Child> | undefined;
  #closed = false;
  #lastId = 0;

  constructor(options: SqlEngineOptions) {
    this.#maxConcurrent = options.maxConcurrent ?? 3;
    this.#maxQueued = options.maxQueued ?? 16;
    this.#timeoutMs = options.timeoutMs ?? 120_000;
    this.#graceMs = options.graceMs ?? 5_000;
  }

  async start(): Promise<void> {
    await this.#living();
  }

  query(sql: string, options: Parameters<SqlEngine['query']>[1]): Promise<EncodedResult> {
    const { maxRows, timeoutMs = this.#timeoutMs, signal } = options;
    if (this.#closed) return Promise.reject(new SqlEngineError('CLOSED', 'The SQL engine is closed.'));
    if (signal?.aborted) return Promise.reject(aborted());
    if (this.#running.size >= this.#maxConcurrent && this.#queue.length >= this.#maxQueued) {
      return Promise.reject(new SqlEngineError('BUSY', 'Too many statements wait already.'));
    }
    return new Promise((resolve, reject) => {
      const onAbort = () => this.#stop(job, aborted());
      const timer = setTimeout(() => this.#stop(job, timedOut(job, timeoutMs)), timeoutMs);
      const job: Job = {
        id: ++this.#lastId,
        sql,
        maxRows,
        started: false,
        settled: false,
        settle(outcome) {
          if (job.settled) return;
          job.settled = true;
          clearTimeout(timer);
          signal?.removeEventListener('abort', onAbort);
          if (outcome instanceof SqlEngineError) reject(outcome);
          else resolve(outcome);
        },
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      this.#queue.push(job);
      this.#advance();
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    const error = () => new SqlEngineError('CLOSED', 'The SQL engine was closed.');
    for (const job of this.#queue.splice(0)) job.settle(error());
    for (const job of this.#running) job.settle(error());
    const child = await this.#child?.catch(() => undefined);
    await child?.kill();
  }

  #advance(): void {
    while (!this.#closed && this.#running.size < this.#maxConcurrent) {
      const job = this.#queue.shift();
      if (job === undefined) return;
      job.started = true;
      this.#running.add(job);
      void this.#run(job).then((outcome) => {
        job.settle(outcome);
        this.#running.delete(job);
        this.#advance();
      });
    }
  }

  async #run(job: Job): Promise<EncodedResult | SqlEngineError> {
    try {
      const child = await this.#living();
      // Ended while the process was started again: it must not run now.
      if (job.settled) return aborted();
      return await child.run({ kind: 'query', id: job.id, sql: job.sql, maxRows: job.maxRows });
    } catch (error) {
      return error instanceof SqlEngineError
        ? error
        : new SqlEngineError('CRASHED', 'The SQL engine failed.');
    }
  }

  /** Answers the caller now; the place is free when the process has let go of the statement. */
  #stop(job: Job, error: SqlEngineError): void {
    job.settle(error);
    const index = this.#queue.indexOf(job);
    if (index >= 0) this.#queue.splice(index, 1);
    else if (this.#running.has(job)) void this.#cancel(job);
  }

  async #cancel(job: Job): Promise<void> {
    const child = await this.#child?.catch(() => undefined);
    if (child === undefined) return;
    child.cancel(job.id);
    // A few operators of DuckDB look at the interrupt rarely: such a statement must not keep its place.
    const timer = setTimeout(() => {
      if (this.#running.has(job)) void child.kill();
    }, this.#graceMs);
    timer.unref();
  }

  /** The living process: the same for everybody, and a new one after a crash. */
  #living(): Promise<Child> {
    if (this.#closed) return Promise.reject(new SqlEngineError('CLOSED', 'The SQL engine was closed.'));
    if (this.#child !== undefined) return this.#child;
    const forget = () => {
      if (this.#child === starting) this.#child = undefined;
    };
    const starting: Promise<Child> = EngineChild.start('engine-process.js', this.#maxConcurrent + 4);
    this.#child = starting;
    starting.then((child) => child.exited.then(forget), forget);
    return starting;
  }
}

function aborted(): SqlEngineError {
  return new SqlEngineError('ABORTED', 'The statement was given up by its caller.');
}

function timedOut(job: Job, timeoutMs: number): SqlEngineError {
  if (!job.started) return new SqlEngineError('BUSY', 'The statement waited too long for its turn.');
  return new SqlEngineError('TIMEOUT', `The statement took longer than ${timeoutMs} ms.`);
}
