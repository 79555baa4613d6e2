import { Refusal } from './engine-refusal.js';

/** One token of a statement; white space and comments are none. `end` is exclusive. */
export interface Token {
  kind: 'word' | 'quoted' | 'string' | 'symbol';
  /** As written; a word is compared without case. */
  text: string;
  start: number;
  end: number;
}

const patterns = {
  skip: /(?:\s+|--[^\r\n]*)/y,
  comment: /\/\*[\s\S]*?\*\//y,
  word: /(?:[A-Za-z_]\w*|\d[\w.]*)/y,
  string: /'[^']*(?:''[^']*)*'/y,
  quoted: /"[^"]*(?:""[^"]*)*"/y,
};

/**
 * Splits a statement by the rules of Trino's grammar (SqlBase.g4). What DuckDB would read otherwise is refused,
 * so that both see the same statement and nothing hides from the guard in a string or a comment: dollar
 * quoting, strings with backslash escapes (`E'…'`), nested comments, a NUL (the end of the text for native
 * code).
 *
 * @throws {@link Refusal}
 */
export function tokenize(sql: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  const match = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    return pattern.exec(sql)?.[0];
  };
  const push = (kind: Token['kind'], text: string) => {
    tokens.push({ kind, text, start: at, end: at + text.length });
    at += text.length;
  };
  while (at < sql.length) {
    const skipped = match(patterns.skip);
    if (skipped !== undefined) {
      at += skipped.length;
    } else if (sql.startsWith('/*', at)) {
      const comment = match(patterns.comment);
      if (comment === undefined) throw refusal(sql, at, 'a comment is not closed');
      if (comment.indexOf('/*', 2) >= 0) throw refusal(sql, at, 'a comment inside a comment');
      at += comment.length;
    } else if (sql[at] === "'") {
      const text = match(patterns.string);
      if (text === undefined) throw refusal(sql, at, 'a string is not closed');
      if (isEscapePrefix(tokens.at(-1), at)) throw refusal(sql, at, "mismatched input: E'…' is no string");
      push('string', text);
    } else if (sql[at] === '"') {
      const text = match(patterns.quoted);
      if (text === undefined) throw refusal(sql, at, 'a quoted name is not closed');
      push('quoted', text);
    } else {
      const text = match(patterns.word);
      if (text !== undefined) push('word', text);
      else if (/[$;`\0]/.test(sql.charAt(at))) {
        throw refusal(sql, at, `mismatched input '${sql[at] === '\0' ? 'NUL' : sql[at]}'`);
      } else push('symbol', sql.charAt(at));
    }
  }
  return tokens;
}

/** DuckDB glues `e` to a quote that follows it at once, also at the end of a number. */
function isEscapePrefix(before: Token | undefined, at: number): boolean {
  return before?.kind === 'word' && before.end === at && /^(?:\d.*)?e$/i.test(before.text);
}

/** A refusal with its place, as Trino gives it: lines and columns from 1. */
export function refusal(sql: string, at: number, what: string): Refusal {
  const before = sql.slice(0, at).split('\n');
  return new Refusal(`line ${before.length}:${(before.at(-1) ?? '').length + 1}: ${what}`);
}
