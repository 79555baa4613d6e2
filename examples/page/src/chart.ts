import { svg } from './element.js';

/** One bar: what it stands for, and how long it is. */
export interface Bar {
  readonly label: string;
  readonly value: number;
}

// In the text's own size: both grow where somebody reads large text.
const ROW_EM = 3.3;
const BAR_EM = 1;
const em = (length: number): string => `${length.toFixed(2)}em`;

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
      height: em(bars.length * ROW_EM),
    },
    svg('title', { id: titleId }, title),
    svg('desc', { id: descriptionId }, `${bars.map(({ label, value }) => `${label}: ${value}`).join(', ')}.`),
    ...bars.flatMap(({ label, value }, index) => {
      const top = index * ROW_EM;
      const width = `${((100 * value) / longest).toFixed(2)}%`;
      const barTop = em(top + ROW_EM - BAR_EM - 0.7);
      const baseline = em(top + 1.1);
      const box = { x: '0', y: barTop, height: em(BAR_EM), rx: '3' };
      return [
        svg('text', { class: 'label', x: '0', y: baseline }, label),
        svg('text', { class: 'value', x: '100%', y: baseline, 'text-anchor': 'end' }, String(value)),
        svg('rect', { class: 'track', width: '100%', ...box }),
        svg('rect', { class: 'bar', width, ...box }),
      ];
    }),
  );
}
