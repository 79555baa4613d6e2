import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { SqlEngineError } from './engine-error.js';
import type { FromProcess, ToProcess } from './engine-message.js';

/** The variables that a native library may need; nothing else of this process's environment goes along. */
const inherited = ['PATH', 'LD_LIBRARY_PATH', 'SystemRoot', 'TEMP', 'TMPDIR'];

const startDeadlineMs = 30_000;

interface Waiting<Result> {
  resolve(result: Result): void;
  reject(error: SqlEngineError): void;
}

/**
 * The engine's process, seen from outside. DuckDB runs there and not here because four long queries fill
 * libuv's pool, after which every file and name look-up of the process waits, and because a crash of native
 * code takes its process along.
 */
export class EngineChild<Question extends { readonly id: number }, Result> {
  readonly #process: ChildProcess;
  readonly #waiting = new Map<number, Waiting<Result>>();
  /** Settles when the process is gone. */
  readonly exited: Promise<void>;

  private constructor(child: ChildProcess) {
    this.#process = child;
    this.exited = new Promise((resolve) => {
      child.once('exit', () => resolve());
      child.once('error', () => resolve());
    });
    void this.exited.then(() => this.#end());
    child.on('message', (message) => this.#receive(message as FromProcess<Result>));
  }

  /**
   * Starts a process and waits until it can take statements.
   *
   * @param entry - the process's own file, beside this one.
   * @throws {@link SqlEngineError} `CRASHED` when it cannot.
   */
  static async start<Question extends { readonly id: number }, Result>(
    entry: 'engine-process.js' | 'nyxdb-process.js',
    threads: number,
  ): Promise<EngineChild<Question, Result>> {
    const env: NodeJS.ProcessEnv = { UV_THREADPOOL_SIZE: String(threads) };
    for (const name of inherited) if (process.env[name] !== undefined) env[name] = process.env[name];
    const forked = fork(fileURLToPath(new URL(entry, import.meta.url)), [], {
      env,
      // A loader or an inspector port of this process is none of the child's business.
      execArgv: [],
      serialization: 'advanced',
      // Whatever native code prints could quote a statement: nobody listens.
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    const child = new EngineChild<Question, Result>(forked);
    try {
      await child.#ready();
      return child;
    } catch (error) {
      await child.kill();
      throw error;
    }
  }

  /** True until the process ends. */
  get alive(): boolean {
    return this.#process.connected && this.#process.exitCode === null && this.#process.signalCode === null;
  }

  /** Has one statement run; rejects with `QUERY_FAILED`, `ROW_CAP` or `CRASHED`. */
  run(question: Question): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#waiting.set(question.id, { resolve, reject });
      this.#send(question);
    });
  }

  /** Asks for the end of a statement; its `run` settles when it has ended. */
  cancel(id: number): void {
    if (this.#waiting.has(id)) this.#send({ kind: 'cancel', id });
  }

  /** Ends the process at once and waits until it is gone. */
  async kill(): Promise<void> {
    this.#process.kill('SIGKILL');
    await this.exited;
  }

  #ready(): Promise<void> {
    return new Promise((resolve, reject) => {
      const fail = (reason: string) =>
        reject(new SqlEngineError('CRASHED', `The SQL engine could not start: ${reason}`));
      const timer = setTimeout(() => fail('it did not answer in time'), startDeadlineMs);
      void this.exited.then(() => fail('its process ended'));
      this.#process.once('message', (message) => {
        clearTimeout(timer);
        const first = message as FromProcess<Result>;
        if (first.kind === 'ready') resolve();
        else fail(first.kind === 'unready' ? first.message : 'it said something else first');
      });
      void this.exited.then(() => clearTimeout(timer));
    });
  }

  #receive(message: FromProcess<Result>): void {
    if (message.kind === 'ready' || message.kind === 'unready') return;
    const waiting = this.#waiting.get(message.id);
    this.#waiting.delete(message.id);
    if (message.kind === 'result') waiting?.resolve(message.result);
    else waiting?.reject(new SqlEngineError(message.code, message.message));
  }

  #send(message: ToProcess<Question>): void {
    // A failed send means that the process is going: its exit answers everything that waits.
    if (this.#process.connected) this.#process.send(message, () => {});
  }

  #end(): void {
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const { reject } of waiting) {
      reject(new SqlEngineError('CRASHED', 'The SQL engine stopped while it ran this statement.'));
    }
  }
}
