import { svg } from './element.js';

/** One bar: what it stands for, and how long it is. */
export interface Bar {
  readonly label: string;
  readonly value: number;
}

const ROW_PX = 46;
const BAR_PX = 14;

/**
 * Horizontal bars from zero. Lengths are shares of the chart's width and not of a view box, so the text keeps its size on a small
 * screen. For whoever does not see it, it is one image whose description has every number.
 */
export function barChart(title: string, bars: readonly Bar[]): SVGSVGElement {
  const longest = Math.max(1, ...bars.map(({ value }) => value));
  const titleId = 'chart-title';
  const descriptionId = 'chart-description';
  return svg(
    'svg',
    {
      class: 'chart',
      role: 'img',
      'aria-labelledby': `${titleId} ${descriptionId}`,
      width: '100%',
      height: String(bars.length * ROW_PX),
    },
    svg('title', { id: titleId }, title),
    svg('desc', { id: descriptionId }, `${bars.map(({ label, value }) => `${label}: ${value}`).join(', ')}.`),
    ...bars.flatMap(({ label, value }, index) => {
      const top = index * ROW_PX;
      const width = `${((100 * value) / longest).toFixed(2)}%`;
      const barTop = String(top + ROW_PX - BAR_PX - 10);
      const box = { x: '0', y: barTop, height: String(BAR_PX), rx: '3' };
      return [
        svg('text', { class: 'label', x: '0', y: String(top + 15) }, label),
        svg('text', { class: 'value', x: '100%', y: String(top + 15), 'text-anchor': 'end' }, String(value)),
        svg('rect', { class: 'track', width: '100%', ...box }),
        svg('rect', { class: 'bar', width, ...box }),
      ];
    }),
  );
}
