// How the page looks and what axe-core finds, in light and dark, on a telephone and on a desk; pictures go into .screenshots/.
import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import t from 'tap';
import { launchBrowser } from '../browser/chromium.js';
import { open, part, startExample, visitor } from './example.js';

const pictures = join(import.meta.dirname, '../../.screenshots');
mkdirSync(pictures, { recursive: true });

// Evaluated over the debugger and not put into the page, so the page's own policy stays as it is.
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** What axe-core has against the page as it is, by rule and element. */
async function findings(page: Page): Promise<unknown> {
  await page.evaluate(axe);
  return page.evaluate(`axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) =>
    violations.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => ({ id, html, failureSummary }))))`);
}

const browser = await launchBrowser(t);
const example = await startExample(t, 'fastify-app');
const { platform, url } = example;
const { nyxdb } = platform;

for (const colorScheme of ['light', 'dark'] as const)
  for (const width of [375, 1280])
    t.test(`${colorScheme}, ${width} px`, async (t) => {
      const look = { colorScheme, viewport: { width, height: 900 }, reducedMotion: 'reduce' } as const;

      /** Looks at the page as it is now. */
      async function see(page: Page, state: string): Promise<void> {
        t.same(await findings(page), [], `${state}: axe-core finds nothing`);
        const wide = await page.evaluate('document.documentElement.scrollWidth');
        t.equal(wide, width, `${state}: nothing scrolls sideways`);
        const path = join(pictures, `${colorScheme}-${width}-${state}.png`);
        await page.screenshot({ path, fullPage: true });
      }

      const anonymous = await open(await visitor(t, browser, example, undefined, look), `${url}/`);
      await see(anonymous.page, 'signed-out');
      t.same(anonymous.complaints, []);

      const person = await visitor(t, browser, example, 'ana@example.org', look);
      const { page, complaints } = await open(person, `${url}/`);
      await page.getByRole('rowheader', { name: 'BRAZIL' }).waitFor();
      await part(page, 'Customers per region').getByRole('img').waitFor();
      await part(page, 'Verified identity').getByText('5b1c7a0e-ana').waitFor();
      await page.locator('#connection[data-state=live]').waitFor();
      await see(page, 'signed-in');
      await page.getByText('The same numbers as a table').click();
      await page.getByRole('button', { name: 'Run the query' }).click();
      await page.getByRole('progressbar').waitFor();
      await see(page, 'running');
      await page.getByRole('button', { name: 'Cancel' }).click();
      await page.getByText(/^Cancelled after/).waitFor();
      t.same(complaints, []);

      t.teardown(() => nyxdb.setFaults([]));
      nyxdb.setFaults([
        { on: 'delta', do: 'reset' },
        { on: 'connect', do: 'reset', repeat: true },
      ]);
      await nyxdb.write('UPDATE fills SET price = price + 1');
      await page.locator('#connection[data-state=stale]').waitFor();
      await see(page, 'stale');

      nyxdb.setFaults([{ on: 'snapshot', do: 'revoke', repeat: true }]);
      platform.faults.set({ queryMesh: 'down' });
      t.teardown(() => platform.faults.set({ queryMesh: 'up' }));
      await page.reload();
      await page.locator('#connection[data-state=revoked]').waitFor();
      await part(page, 'Nations').getByRole('alert').waitFor();
      await part(page, 'Customers per region').getByRole('alert').waitFor();
      await see(page, 'failing');
    });

t.test('text twice as large, on a telephone: nothing is cut off, squeezed or written over', async (t) => {
  const look = { viewport: { width: 375, height: 900 }, reducedMotion: 'reduce' } as const;
  const { page } = await open(await visitor(t, browser, example, 'ana@example.org', look), `${url}/`);
  await part(page, 'Customers per region').getByRole('img').waitFor();
  await part(page, 'Verified identity').getByText('5b1c7a0e-ana').waitFor();
  await page.evaluate("document.documentElement.style.fontSize = '200%'");
  t.equal(await page.evaluate('document.documentElement.scrollWidth'), 375, 'nothing scrolls sideways');
  const widths = await page.evaluate<number[]>(
    "[...document.querySelectorAll('dd')].map((value) => value.getBoundingClientRect().width)",
  );
  t.equal(widths.length, 5);
  for (const width of widths) t.ok(width > 190, 'a value has room for words');
  // One below the other: label, bar, label, bar.
  const edges = await page.evaluate<number[]>(`
    [...document.querySelectorAll('.chart .label, .chart .bar')].flatMap((part) => {
      const { top, bottom } = part.getBoundingClientRect();
      return [top, bottom];
    })`);
  t.equal(edges.length, 20);
  t.same(
    edges,
    edges.toSorted((one, other) => one - other),
    'no label is written over a bar',
  );
  t.same(await findings(page), []);
  await page.screenshot({ path: join(pictures, 'large-text-375.png'), fullPage: true });
});

t.test("in the reader's own colours, what is chosen is told by more than weight", async (t) => {
  const look = { forcedColors: 'active', colorScheme: 'dark' } as const;
  const { page } = await open(await visitor(t, browser, example, 'ana@example.org', look), `${url}/`);
  const ground = (name: string): Promise<string> =>
    page.evaluate(
      `getComputedStyle(document.querySelector('[name=instrument][value="${name}"] + span')).backgroundColor`,
    );
  t.not(await ground('BTC-USD'), await ground('ETH-USD'));
  await page.getByRole('radio', { name: 'ETH-USD' }).check();
  t.not(await ground('ETH-USD'), await ground('BTC-USD'));
  t.equal(await ground('BTC-USD'), await ground('SOL-USD'));
  await page.screenshot({ path: join(pictures, 'forced-colors.png'), fullPage: true });
});
