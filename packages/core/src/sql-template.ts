/** The static text of a tagged template, checked once for each place in the source that has one. */

import { placeAfter } from './sql-scan.js';

const checked = new WeakSet<TemplateStringsArray>();

/**
 * The static parts, each of which begins and ends in code.
 *
 * @throws TypeError for what is not a template, a placeholder inside quotes or a comment, or text that JavaScript has changed.
 */
export function checkedTemplate(strings: TemplateStringsArray): readonly string[] {
  if (!isTemplate(strings))
    throw new TypeError('sql is a tag: write sql`…`, or sql.unsafe(text) for SQL as it is');
  if (checked.has(strings)) return strings;
  strings.forEach((part, index) => {
    // Trino has no backslash escapes: in `'\n'` the author may have meant either.
    if (asWritten(strings.raw[index] ?? '') !== part) {
      throw new TypeError('SQL has no backslash escapes: write the character itself, or a backslash as \\\\');
    }
    if (index < strings.length - 1) requireCode(part, index + 1);
    else requireWhole(part);
  });
  checked.add(strings);
  return strings;
}

// Only the engine makes frozen strings with frozen raw text; a parsed JSON value is neither.
function isTemplate(strings: unknown): strings is TemplateStringsArray {
  if (!Array.isArray(strings) || !Object.isFrozen(strings) || !('raw' in strings)) return false;
  return Array.isArray(strings.raw) && Object.isFrozen(strings.raw) && strings.raw.length === strings.length;
}

const asWritten = (raw: string): string => raw.replaceAll(/\\([\\`$])/g, '$1');

function requireCode(part: string, placeholder: number): void {
  const { kind } = placeAfter(part);
  if (kind === 'code') return;
  throw new TypeError(`placeholder ${placeholder} stands inside ${kind === 'quotes' ? kind : `a ${kind}`}`);
}

/** @throws TypeError for a text that ends inside quotes or a comment: it would take in what follows. */
export function requireWhole(text: string): void {
  const { kind } = placeAfter(text);
  if (kind === 'code') return;
  const ending = kind === 'line comment' ? ': end the line' : '';
  throw new TypeError(`the SQL ends inside ${kind === 'quotes' ? kind : `a ${kind}`}${ending}`);
}
