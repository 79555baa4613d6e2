import { deepStrictEqual } from 'node:assert/strict';
import { FrameError, parseTsv } from '@nn-runtime/nyxdb/frames';
import t from 'tap';
import fc from '../property.js';

// A body is lines, a line is cells: said with `split`, slowly and plainly.

interface Table {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

function naive(text: string): Table | 'tsv-no-header' | 'tsv-columns' {
  if (text === '') return 'tsv-no-header';
  const lines = (text.endsWith('\n') ? text.slice(0, -1) : text).split('\n');
  const [columns = [], ...rows] = lines.map((line) => line.split('\t'));
  return rows.every((row) => row.length === columns.length) ? { columns, rows } : 'tsv-columns';
}

const parse = (text: string): unknown => {
  try {
    return parseTsv(text, { finalLf: 'optional' }, { maxRows: 1_000, maxColumns: 100 });
  } catch (error) {
    return error instanceof FrameError ? error.reason : error;
  }
};

t.test('any text is read as splitting it reads it, or refused for the same reason', async (t) => {
  const text = fc.string({
    unit: fc.constantFrom('a', '\t', '\n', '\r', '\\', 'é', '😀', '\0'),
    maxLength: 40,
  });
  const same = fc.property(text, (body) => deepStrictEqual(parse(body), naive(body)));
  t.doesNotThrow(() => fc.assert(same, { numRuns: 3_000 }));
});

t.test('any table that a frame can hold is read back as it was', async (t) => {
  const cell = fc.string({ unit: 'binary', maxLength: 8 }).map((value) => value.replaceAll(/[\t\n]/g, ''));
  const table = fc
    .integer({ min: 1, max: 5 })
    .chain((width) => fc.array(fc.array(cell, { minLength: width, maxLength: width }), { minLength: 1 }));
  const same = fc.property(table, ([columns = [], ...rows]) => {
    const body = [columns, ...rows].map((cells) => `${cells.join('\t')}\n`).join('');
    deepStrictEqual(parse(body), { columns, rows });
  });
  t.doesNotThrow(() => fc.assert(same, { numRuns: 500 }));
});
