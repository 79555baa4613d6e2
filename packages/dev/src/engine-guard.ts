import { refusal, type Token, tokenize } from './engine-lexer.js';
import { Refusal } from './engine-refusal.js';
import { rewriteShow } from './engine-show.js';

/** A statement that passed: what DuckDB gets, and what it must turn out to be there. */
export interface Statement {
  /** The text for DuckDB: the caller's own, except for SHOW and the options of EXPLAIN. */
  sql: string;
  /** For EXPLAIN, what is explained: DuckDB runs more than queries under EXPLAIN ANALYZE. */
  explained?: string | undefined;
  /** For SHOW: the text is this engine's own. */
  isOurs?: boolean | undefined;
  /** For SHOW, the error that an empty answer stands for. */
  whenEmpty?: string | undefined;
}

const queryWords = new Set(['SELECT', 'WITH', 'VALUES', 'TABLE']);

/**
 * Lets one read-only statement through, by its first keyword and its tokens. This comes before DuckDB reads
 * anything, because it runs some PRAGMA statements while it only takes the text apart; what kind of
 * statement it finds is checked once more after that.
 *
 * @throws {@link Refusal}
 */
export function guard(sql: string): Statement {
  const tokens = tokenize(sql);
  const first = tokens[0];
  if (first === undefined) throw new Refusal('The statement is empty.');
  const keyword = first.kind === 'word' ? first.text.toUpperCase() : first.text;
  if (isQuery(tokens, 0)) return { sql };
  if (keyword === 'EXPLAIN') return explain(sql, tokens);
  if (keyword === 'SHOW') return { ...rewriteShow(sql, tokens), isOurs: true };
  throw refusal(
    sql,
    first.start,
    'only SELECT, WITH, VALUES, TABLE, EXPLAIN and SHOW are accepted, and one statement only',
  );
}

/** Whether a query begins at this token: its keyword, behind any number of opening parentheses. */
function isQuery(tokens: Token[], from: number): boolean {
  let at = from;
  while (tokens[at]?.text === '(') at++;
  const token = tokens[at];
  return token?.kind === 'word' && queryWords.has(token.text.toUpperCase());
}

/** Trino's options (`TYPE`, `FORMAT`, VERBOSE) are accepted and left out: DuckDB's plan has one form. */
function explain(sql: string, tokens: Token[]): Statement {
  let at = 1;
  const analyze = isWord(tokens[at], 'ANALYZE');
  if (analyze) at++;
  if (isWord(tokens[at], 'VERBOSE')) at++;
  if (tokens[at]?.text === '(' && !isQuery(tokens, at)) {
    while (at < tokens.length && tokens[at]?.text !== ')') at++;
    at++;
  }
  const start = tokens[at]?.start;
  if (start === undefined || !isQuery(tokens, at)) {
    throw refusal(sql, start ?? sql.length, 'only a query can be explained');
  }
  const explained = sql.slice(start);
  return { sql: `EXPLAIN ${analyze ? 'ANALYZE ' : ''}${explained}`, explained };
}

function isWord(token: Token | undefined, word: string): boolean {
  return token?.kind === 'word' && token.text.toUpperCase() === word;
}
