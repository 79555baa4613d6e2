import { html } from './element.js';

/** A column as it is shown. */
export interface TableColumn {
  readonly label: string;
  /** A second line: the type of the values. */
  readonly detail?: string | undefined;
  readonly isNumber?: boolean | undefined;
}

/** A table within a region that scrolls by itself, so that the page never does sideways, and that the keyboard reaches. */
export function table(
  caption: string,
  columns: readonly TableColumn[],
  rows: readonly (readonly string[])[],
  rowClass: (index: number) => string | undefined = () => undefined,
): HTMLElement {
  const numeric = (index: number) => (columns[index]?.isNumber === true ? { class: 'number' } : {});
  const head = columns.map(({ label, detail }, index) => {
    const cell = html('th', { scope: 'col', ...numeric(index) }, label);
    if (detail !== undefined) cell.append(' ', html('small', {}, detail));
    return cell;
  });
  const body = rows.map((row, rowIndex) => {
    const name = rowClass(rowIndex);
    return html(
      'tr',
      name === undefined ? {} : { class: name },
      ...row.map((cell, index) =>
        index === 0
          ? html('th', { scope: 'row', ...numeric(index) }, cell)
          : html('td', numeric(index), cell),
      ),
    );
  });
  return html(
    'div',
    { class: 'scroll', role: 'region', 'aria-label': caption, tabindex: '0' },
    html(
      'table',
      {},
      html('caption', {}, caption),
      html('thead', {}, html('tr', {}, ...head)),
      html('tbody', {}, ...body),
    ),
  );
}
