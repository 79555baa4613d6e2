import type { Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { launchBrowser } from '../browser/chromium.js';
import { open, ownComplaints, startExample, visitor } from './example.js';

const browser = await launchBrowser(t);
const example = await startExample(t, 'express-app');

/** What has the focus, and whether that shows. */
const focus = (page: Page) =>
  page.evaluate(`(() => {
    const { activeElement } = document;
    const name = activeElement.getAttribute('aria-label') || activeElement.value || activeElement.textContent;
    // A radio is see-through: what shows is its label.
    const shown = activeElement.matches('[type=radio]') ? activeElement.nextElementSibling : activeElement;
    return [name.trim(), getComputedStyle(shown).outlineStyle !== 'none'];
  })()`);

/** Tabs through what comes next, and expects these names, each of which shows its focus. */
async function walk(t: Test, page: Page, names: readonly string[]): Promise<void> {
  for (const name of names) {
    await page.keyboard.press('Tab');
    t.same(await focus(page), [name, true]);
  }
}

t.test('the whole page, with the keyboard alone', async (t) => {
  const { page, complaints } = await open(await visitor(t, browser, example), `${example.url}/`);
  await walk(t, page, ['Skip to the data']);
  t.equal(await page.getByRole('link', { name: 'Skip to the data' }).isVisible(), true);
  await page.keyboard.press('Enter');
  await walk(t, page, ['Sign in to see your data']);

  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Ana Souza' }).waitFor();
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.getByRole('rowheader', { name: 'BRAZIL' }).waitFor();
  await page.getByRole('img', { name: /^Customers per region/ }).waitFor();

  // Back where the skip link led.
  await walk(t, page, ['BTC-USD']);
  await page.keyboard.press('ArrowRight');
  t.same(await focus(page), ['ETH-USD', true]);
  await page.getByRole('region', { name: 'Your newest fills' }).waitFor();
  await walk(t, page, ['Your newest fills', '25 nations', 'The same numbers as a table']);
  await page.keyboard.press('Space');
  await walk(t, page, ['1500 customers in 5 regions', 'Run the query']);

  await page.keyboard.press('Enter');
  await page.getByRole('progressbar').waitFor();
  t.same(await focus(page), ['Cancel', true]);
  await page.keyboard.press('Enter');
  await page.getByText(/^Cancelled after/).waitFor();
  t.same(await focus(page), ['Run the query', true]);
  await walk(t, page, ['/api/me', '/api/nations', '/api/private']);

  await page.goto(`${example.url}/`);
  await walk(t, page, ['Skip to the data', 'Sign out']);
  await page.keyboard.press('Enter');
  await page.getByText('You signed out.').waitFor();
  t.same(await focus(page), ['Sign in', true]);
  t.same(ownComplaints(complaints), []);
});

t.test('a button that makes way leaves the focus where its outcome is', async (t) => {
  const { platform, url } = example;
  t.teardown(() => {
    platform.nyxdb.setFaults([]);
    platform.faults.set({ queryMesh: 'up' });
  });
  platform.nyxdb.setFaults([{ on: 'snapshot', do: 'revoke' }]);
  platform.faults.set({ queryMesh: 'down' });
  const context = await visitor(t, browser, example, 'ana@example.org');
  const { page } = await open(context, `${url}/`);
  const focused = () => page.evaluate('document.activeElement.id || document.activeElement.textContent');

  const again = (name: string) => page.locator(`#${name}`).getByRole('button');
  await again('again').waitFor();
  await again('again').press('Enter');
  await page.locator('#connection[data-state=live]').waitFor();
  t.equal(await focused(), 'connection');

  await page.getByRole('button', { name: 'Run the query' }).click();
  for (const name of ['nations', 'regions', 'long-error']) await again(name).waitFor();
  platform.faults.set({ queryMesh: 'up' });
  for (const [name, outcome] of [
    ['nations', page.getByRole('rowheader', { name: 'BRAZIL' })],
    ['regions', page.getByRole('img', { name: /^Customers per region/ })],
  ] as const) {
    await again(name).press('Enter');
    await outcome.waitFor();
    t.equal(await focused(), name);
  }
  await again('long-error').press('Enter');
  await page.getByRole('progressbar').waitFor();
  t.equal(await focused(), 'cancel');

  // The other tab ends the session: the whole of it is gone.
  const other = await open(context, `${url}/`);
  await other.page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByText(/^Your session has ended/).waitFor();
  t.equal(await focused(), 'main');
});
