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
  return clash(text.slice(-2), next.slice(0, 1)) ? `${text} ${next}` : text + next;
}

function clash(before: string, after: string): boolean {
  const last = before.slice(-1);
  if (WORD.test(last) && WORD.test(after)) return true;
  if (OPERATOR.test(last) && OPERATOR.test(after)) return true;
  // `1` and `.5`, `.` and `5`, `1.` and `e5` are numbers.
  return (
    (/\d$/.test(before) && after === '.') || (last === '.' && /\d/.test(before + after) && WORD.test(after))
  );
}
