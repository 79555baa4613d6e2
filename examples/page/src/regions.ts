import { barChart } from './chart.js';
import { html } from './element.js';
import { panel } from './panel.js';
import type { Part } from './part.js';
import { isQueryAnswer, type QueryAnswer } from './query-answer.js';
import { table } from './table.js';

/** How many customers each region has: a chart, and the same numbers as a table. */
export const regionsPanel = (): Part =>
  panel({ id: 'regions', path: '/api/regions', is: isQueryAnswer, what: 'the customers', show });

function show({ rows }: QueryAnswer): Node[] {
  if (rows.length === 0) return [html('p', { class: 'empty' }, 'There is no customer that you may see.')];
  const bars = rows.map(([region, customers]) => ({ label: String(region), value: Number(customers) }));
  const total = bars.reduce((sum, { value }) => sum + value, 0);
  return [
    barChart('Customers per region', bars),
    html(
      'details',
      {},
      html('summary', {}, 'The same numbers as a table'),
      table(
        `${total} customers in ${bars.length} regions`,
        [{ label: 'Region' }, { label: 'Customers', isNumber: true }],
        bars.map(({ label, value }) => [label, String(value)]),
      ),
    ),
  ];
}
