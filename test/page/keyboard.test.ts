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
