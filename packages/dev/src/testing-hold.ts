import type { RefusalCode } from './refusal.js';
import type { TestAnswer } from './testing-answer.js';
import type { Matching, TestQuery } from './testing-query.js';
import { answerReply, type RefuseOptions, type Reply, refusalReply } from './testing-reply.js';

/** A query the broker has not answered yet, and will when the test says so. */
export interface HeldQuery {
  /** Resolves when the query is there; rejects when the broker is closed before. */
  readonly arrived: Promise<TestQuery>;
  /** Resolves when the caller went away without an answer: an abort, a deadline, a client that hung up. */
  readonly abandoned: Promise<void>;
  /** Answers it. */
  answer(answer: TestAnswer): void;
  /** Refuses it. */
  refuse(code: RefusalCode, options?: Omit<RefuseOptions, keyof Matching> | undefined): void;
  /** Ends its connection without an answer. */
  drop(): void;
  /** Lets it go on to the answer that was prepared for it otherwise. */
  release(): void;
}

/** A held query, and the script's side of it. */
export interface Hold {
  readonly held: HeldQuery;
  /** Waits for the test's decision, or for the caller to go away. */
  act(query: TestQuery, gone: AbortSignal): Promise<Reply>;
  /** Drops it; whoever waits for its arrival is told. */
  end(): void;
}

type Decision = Reply | 'release';

/** @param next what a released query goes on to */
export function createHold(next: (query: TestQuery, gone: AbortSignal) => Promise<Reply>): Hold {
  const arrived = deferred<TestQuery>();
  const abandoned = deferred<void>();
  const decided = deferred<Decision>();
  // A test that never waits for an arrival must not fail by an unhandled rejection at the end.
  arrived.promise.catch(() => undefined);

  return {
    held: {
      arrived: arrived.promise,
      abandoned: abandoned.promise,
      answer: (answer) => decided.resolve(answerReply(answer)),
      refuse: (code, options) => decided.resolve(refusalReply(code, options)),
      drop: () => decided.resolve({ kind: 'drop' }),
      release: () => decided.resolve('release'),
    },
    async act(query, gone) {
      const left = (): void => {
        abandoned.resolve();
        decided.resolve({ kind: 'drop' });
      };
      if (gone.aborted) left();
      gone.addEventListener('abort', left, { once: true });
      arrived.resolve(query);
      const decision = await decided.promise;
      gone.removeEventListener('abort', left);
      return decision === 'release' ? next(query, gone) : decision;
    },
    end() {
      arrived.reject(new Error('the broker was closed or reset before a query came'));
      decided.resolve({ kind: 'drop' });
    },
  };
}

interface Deferred<T> {
  readonly promise: Promise<T>;
  resolve(value: T): void;
  reject(error: Error): void;
}

// Promise.withResolvers is younger than the oldest Node this runs on.
function deferred<T>(): Deferred<T> {
  let resolve: (value: T) => void = () => undefined;
  let reject: (error: Error) => void = () => undefined;
  const promise = new Promise<T>((onValue, onError) => {
    resolve = onValue;
    reject = onError;
  });
  return { promise, resolve, reject };
}
