import { html } from './element.js';
import { panel } from './panel.js';
import type { Part } from './part.js';
import { isQueryAnswer, type QueryAnswer } from './query-answer.js';
import { table } from './table.js';

/** The nations, as QueryMesh answered: any columns, with their types. */
export const nationsPanel = (): Part =>
  panel({ id: 'nations', path: '/api/nations', is: isQueryAnswer, what: 'the nations', show });

function show({ columns, rows }: QueryAnswer): Node[] {
  if (rows.length === 0) return [html('p', { class: 'empty' }, 'There is no nation that you may see.')];
  return [
    table(
      `${rows.length} nations`,
      columns.map(({ name, type }) => ({ label: name, detail: type, isNumber: type === 'bigint' })),
      rows.map((row) => row.map(String)),
    ),
  ];
}
