import type { SubscriptionState } from '@nn-runtime/nyxdb';
import { html } from './element.js';
import { table } from './table.js';

const labels: ReadonlyMap<string, string> = new Map([
  ['fill_id', 'Fill'],
  ['side', 'Side'],
  ['quantity', 'Quantity'],
  ['price', 'Price'],
  ['executed_at', 'Executed at'],
]);
const numbers = ['fill_id', 'quantity', 'price'];

/** The rows of a state; those that are not in the one before are marked. */
export function fillsTable(
  { columns, rows, kind }: SubscriptionState,
  before: SubscriptionState | undefined,
): HTMLElement {
  if (rows.length === 0) return html('p', { class: 'empty' }, 'You have no fills of this instrument.');
  const key = (row: readonly string[]) => row.join('\t');
  const known = new Set(before?.rows.map(key));
  // Which instrument it is has just been chosen.
  const isShown = (_: string, index: number) => columns[index] !== 'instrument';
  return table(
    'Your newest fills',
    columns
      .filter(isShown)
      .map((name) => ({ label: labels.get(name) ?? name, isNumber: numbers.includes(name) })),
    // The engine's own text, but for the fraction of a second that is none: a decimal read as a number would lose digits.
    rows.map((row) => row.filter(isShown).map((cell) => cell.replace(/(:\d\d)\.0+$/, '$1'))),
    (index) => (kind === 'delta' && !known.has(key(rows[index] ?? [])) ? 'changed' : undefined),
  );
}
