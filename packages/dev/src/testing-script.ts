import type { RefusalCode } from './refusal.js';
import type { TestAnswer } from './testing-answer.js';
import { createHold, type HeldQuery, type Hold } from './testing-hold.js';
import { type Matching, matcher, type TestQuery } from './testing-query.js';
import {
  answerReply,
  type RawAnswer,
  type RefuseOptions,
  type Reply,
  refusalReply,
} from './testing-reply.js';

/**
 * What the broker answers. Answers with `times` are used up first, in the order they were given; then the others count,
 * the last one given first. A query nothing fits is refused with 422 and listed in `unexpected`.
 */
export interface TestScript {
  /**
   * Answers with columns and rows, or with what a function makes of the query. What the function throws is thrown again by
   * `close()`, so that an assertion in it is not lost.
   *
   * @throws TypeError when the answer is not of the protocol's form
   */
  answer(answer: TestAnswer | ((query: TestQuery) => TestAnswer), matching?: Matching | undefined): void;
  /** Answers queries one after the other: the first with the first, and so on, each once. */
  answerInTurn(answers: readonly TestAnswer[], matching?: Omit<Matching, 'times'> | undefined): void;
  /**
   * Refuses as the runtime protocol's table has it.
   *
   * @throws TypeError when the code is not of the table, or the status is not the code's
   */
  refuse(code: RefusalCode, options?: RefuseOptions | undefined): void;
  /** Answers with something that is not of the protocol: a page of a proxy, half a body, another status. */
  respond(raw: RawAnswer, matching?: Matching | undefined): void;
  /** Ends the connection without an answer. */
  drop(matching?: Matching | undefined): void;
  /** Holds the next query back until the test decides. No time passes for it. */
  hold(matching?: Omit<Matching, 'times'> | undefined): HeldQuery;
  /** Queries so far whose form and identity checked out, in order of arrival. */
  readonly queries: readonly TestQuery[];
  /** Those of them that nothing was prepared for. */
  readonly unexpected: readonly TestQuery[];
  /** How many answers with `times` were not used yet, held ones included. */
  readonly remaining: number;
  /** Forgets every prepared answer and every query; what is held is dropped. */
  reset(): void;
}

interface Rule {
  readonly fits: (query: TestQuery) => boolean;
  readonly act: (query: TestQuery, gone: AbortSignal) => Reply | Promise<Reply>;
  left: number;
}

/** A script, and the broker's side of it. */
export interface ScriptParts {
  readonly script: TestScript;
  /** Takes note of a query and gives what it is answered with. */
  play(query: TestQuery, gone: AbortSignal): Promise<Reply>;
  /** Drops what is held. */
  end(): void;
}

export function createScript(): ScriptParts {
  let rules: Rule[] = [];
  let queries: TestQuery[] = [];
  let unexpected: TestQuery[] = [];
  let holds: Hold[] = [];

  const add = (act: Rule['act'], { sql, times = Number.POSITIVE_INFINITY }: Matching = {}): void => {
    if (times !== Number.POSITIVE_INFINITY && !(Number.isInteger(times) && times >= 1))
      throw new TypeError('times must be a whole number of at least 1');
    rules.push({ fits: matcher(sql), act, left: times });
  };

  async function next(query: TestQuery, gone: AbortSignal): Promise<Reply> {
    const fitting = rules.filter((rule) => rule.left > 0 && rule.fits(query));
    const rule = fitting.find(({ left }) => left !== Number.POSITIVE_INFINITY) ?? fitting.at(-1);
    if (rule !== undefined) {
      rule.left -= 1;
      return rule.act(query, gone);
    }
    unexpected.push(query);
    return refusalReply('QUERYMESH_QUERY_FAILED', { message: 'the test prepared no answer for this query' });
  }

  function end(): void {
    for (const hold of holds) hold.end();
    holds = [];
  }

  const script: TestScript = {
    answer(answer, matching) {
      if (typeof answer === 'function') return add((query) => answerReply(answer(query)), matching);
      const reply = answerReply(answer);
      add(() => reply, matching);
    },
    answerInTurn(answers, matching) {
      const replies = answers.map(answerReply);
      for (const reply of replies) add(() => reply, { ...matching, times: 1 });
    },
    refuse(code, options) {
      const reply = refusalReply(code, options);
      add(() => reply, options);
    },
    respond({ statusCode, body, headers = {}, cut = false }, matching) {
      add(() => ({ kind: 'raw', statusCode, body, headers, cut }), matching);
    },
    drop: (matching) => add(() => ({ kind: 'drop' }), matching),
    hold(matching) {
      const hold = createHold(next);
      holds.push(hold);
      add(hold.act, { ...matching, times: 1 });
      return hold.held;
    },
    get queries() {
      return [...queries];
    },
    get unexpected() {
      return [...unexpected];
    },
    get remaining() {
      const counted = rules.filter(({ left }) => left !== Number.POSITIVE_INFINITY);
      return counted.reduce((sum, { left }) => sum + left, 0);
    },
    reset() {
      end();
      rules = [];
      queries = [];
      unexpected = [];
    },
  };

  return {
    script,
    end,
    play(query, gone) {
      queries.push(query);
      return next(query, gone);
    },
  };
}
