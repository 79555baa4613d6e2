import type { Page } from 'playwright-core';
import t from 'tap';
import { launchBrowser } from '../browser/chromium.js';
import { examples, open, ownComplaints, part, startExample, visitor } from './example.js';

const browser = await launchBrowser(t);

/** Waits until the connection is said to be so: its word, and what is said besides. */
const said = (page: Page, word: string, sentence: RegExp) =>
  part(page, 'Your fills, live')
    .getByRole('status')
    .filter({ has: page.getByText(word, { exact: true }), hasText: sentence })
    .waitFor();

const live = (page: Page) => said(page, 'Live', /Rows change here as they change in NYXDB\./);

/** The row of a fill. */
const fill = (page: Page, id: number) =>
  part(page, 'Your fills, live')
    .getByRole('row')
    .filter({ has: page.getByRole('rowheader', { name: String(id), exact: true }) });

for (const name of examples)
  t.test(name, async (t) => {
    const example = await startExample(t, name);
    const { platform, url } = example;
    const { nyxdb } = platform;

    t.test('rows change as they change in NYXDB, and what changed is marked', async (t) => {
      const context = await visitor(t, browser, example, 'ana@example.org');
      const { page, complaints } = await open(context, `${url}/`);
      await live(page);
      t.equal(await fill(page, 3).textContent(), '3sell4.750064011.002026-11-30 09:03:00');
      t.equal(await page.locator('tr.changed').count(), 0);

      await nyxdb.write('UPDATE fills SET price = 70000.50 WHERE fill_id = 3');
      await fill(page, 3).getByRole('cell', { name: '70000.50' }).waitFor();
      t.equal(await page.locator('tr.changed').count(), 1);
      await nyxdb.write('DELETE FROM fills WHERE fill_id = 6');
      await fill(page, 6).waitFor({ state: 'detached' });

      await page.getByRole('radio', { name: 'ETH-USD' }).check();
      await fill(page, 1).waitFor();
      await live(page);
      t.equal(await fill(page, 3).count(), 0, 'another instrument has other rows');
      t.same(complaints, []);
    });

    t.test('a revocation is told, and takes the rows away', async (t) => {
      const context = await visitor(t, browser, example, 'bruno@example.org');
      const { page, complaints } = await open(context, `${url}/`);
      await live(page);
      nyxdb.setFaults([{ on: 'delta', do: 'revoke' }]);
      t.teardown(() => nyxdb.setFaults([]));
      await nyxdb.write('UPDATE fills SET price = price + 1');
      await said(page, 'Withdrawn', /Your access was withdrawn while you were watching\./);
      t.equal(await part(page, 'Your fills, live').getByRole('table').count(), 0);
      await page.getByRole('banner').getByText('Signed in as Bruno Lima').waitFor();

      await page.getByRole('button', { name: 'Follow again' }).click();
      await live(page);
      await fill(page, 12).waitFor();
      t.equal(await page.getByRole('button', { name: 'Follow again' }).count(), 0);

      platform.faults.endSession('bruno@example.org');
      await said(page, 'Signed out', /Your access was withdrawn while you were watching\. Sign in to/);
      await page.getByText(/^Your session has ended: .* or the platform ended it\.$/).waitFor();
      t.same(ownComplaints(complaints), []);
    });

    t.test('a stream that the engine ended says so, and keeps its rows', async (t) => {
      const context = await visitor(t, browser, example, 'ana@example.org');
      const { page, complaints } = await open(context, `${url}/`);
      await live(page);
      nyxdb.drain();
      await said(page, 'Ended', /NYXDB ended this stream\./);
      await fill(page, 3).waitFor();
      await page.getByRole('button', { name: 'Follow again' }).click();
      await live(page);
      t.same(complaints, []);
    });

    t.test('a browser without WebSocket is told, and the rest of the page works', async (t) => {
      const context = await visitor(t, browser, example, 'ana@example.org');
      await context.addInitScript('delete globalThis.WebSocket');
      const { page, complaints } = await open(context, `${url}/`);
      await said(page, 'Failed', /NYXDB could not be followed \(NOT_AVAILABLE\)\./);
      await page.getByRole('rowheader', { name: 'BRAZIL' }).waitFor();
      t.equal(await page.getByRole('button', { name: 'Follow again' }).count(), 1);
      t.same(complaints, []);
    });
  });
