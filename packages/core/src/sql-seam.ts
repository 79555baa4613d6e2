/** Joins pieces of SQL so that no token of one runs into a token of the next. */

// Whatever can be a part of a name, a number, a string or its prefix (X'…', U&'…', DATE '…').
const CLINGS = /[A-Za-z0-9_&$@'"`.\u0080-\uffff]/;
const WORD = /[A-Za-z0-9_&$@'"`\u0080-\uffff]/;
const OPERATOR = /[-+*/%<>=!|&^~?:#@.$]/;

/** Adds a literal. A space goes between it and anything that could cling to it. */
export function joinValue(text: string, literal: string): string {
  return CLINGS.test(text.at(-1) ?? '') ? `${text} ${literal}` : text + literal;
}

/** Adds static text, after a literal (`afterValue`) or after spliced SQL. */
export function joinText(text: string, next: string, afterValue: boolean): string {
  return afterValue && CLINGS.test(next.at(0) ?? '') ? `${text} ${next}` : joinFragment(text, next);
}

/** Adds SQL as it is, apart only where the two would make one token: `sel` and `ect`, `1` and `.5`, `-` and `-`, `/` and `*`. */
export function joinFragment(text: string, next: string): string {
  const before = text.at(-1) ?? '';
  const after = next.at(0) ?? '';
  return clash(before, after) ? `${text} ${next}` : text + next;
}

function clash(before: string, after: string): boolean {
  if (WORD.test(before) && WORD.test(after)) return true;
  if (OPERATOR.test(before) && OPERATOR.test(after)) return true;
  return (/\d/.test(before) && after === '.') || (before === '.' && /\d/.test(after));
}
