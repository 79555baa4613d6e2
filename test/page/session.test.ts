import t from 'tap';
import { launchBrowser } from '../browser/chromium.js';
import { examples, open, ownComplaints, part, startExample, visitor } from './example.js';

const browser = await launchBrowser(t);

for (const name of examples) {
  t.test(name, async (t) => {
    const example = await startExample(t, name);
    const { platform, url } = example;

    t.test('nobody is told so, signs in, and sees their data', async (t) => {
      const context = await visitor(t, browser, example);
      const { page, complaints } = await open(context, `${url}/`);
      const banner = page.getByRole('banner');
      await banner.getByText('Nobody is signed in.').waitFor();
      t.equal(await part(page, 'Nations').getByRole('table').count(), 0);
      t.match(await page.locator('#connection').textContent(), 'Signed out');

      await page.getByRole('link', { name: 'Sign in to see your data' }).click();
      await page.getByRole('button', { name: 'Ana Souza' }).click();
      await banner.getByText('Signed in as Ana Souza').waitFor();
      t.equal(page.url(), `${url}/`, 'back where the sign-in began');

      const nations = part(page, 'Nations');
      const brazil = nations
        .getByRole('row')
        .filter({ has: page.getByRole('rowheader', { name: 'BRAZIL' }) });
      t.equal(await brazil.getByRole('cell').textContent(), '1');
      t.match(await nations.getByRole('table').locator('caption').textContent(), '25 nations');
      t.equal(await nations.getByRole('row').count(), 26);

      const regions = part(page, 'Customers per region');
      const chart = regions.getByRole('img', { name: /^Customers per region / });
      t.equal(await chart.locator('rect.bar').count(), 5);
      await regions.getByText('The same numbers as a table').click();
      const america = regions.getByRole('row').filter({ hasText: 'AMERICA' });
      t.match(
        await chart.locator('desc').textContent(),
        `AMERICA: ${await america.getByRole('cell').textContent()}`,
      );

      const identity = part(page, 'Verified identity');
      t.match(await identity.textContent(), 'ana@example.org (verified)');
      t.match(await identity.textContent(), '5b1c7a0e-ana');
      t.same(complaints, [], 'no console error, no violation of the policy');
    });

    t.test('one tab signs out, the other follows, and nobody’s data stays', async (t) => {
      const context = await visitor(t, browser, example, 'bruno@example.org');
      const first = await open(context, `${url}/`);
      const second = await open(context, `${url}/`);
      for (const { page } of [first, second]) await page.getByRole('rowheader', { name: 'BRAZIL' }).waitFor();

      await first.page.getByRole('button', { name: 'Sign out' }).click();
      await first.page.getByText('You signed out.').waitFor();
      await second.page.getByText(/^Your session has ended: you signed out in another tab/).waitFor();
      for (const { page, complaints } of [first, second]) {
        await page.getByRole('banner').getByText('Nobody is signed in.').waitFor();
        t.equal(await page.getByRole('table').count(), 0);
        t.notMatch(await page.locator('body').textContent(), /Bruno|BRAZIL|bruno@/);
        t.equal(await page.locator('#connection strong').textContent(), 'Signed out');
        t.same(ownComplaints(complaints), []);
      }
      t.equal(await first.page.locator(':focus').getAttribute('id'), 'sign-in', 'the focus is not lost');

      await first.page.getByRole('link', { name: 'Sign in', exact: true }).click();
      await first.page.getByRole('button', { name: 'Bruno Lima' }).click();
      await second.page.getByText('Signed in as Bruno Lima.', { exact: true }).waitFor();
      await second.page.getByRole('rowheader', { name: 'BRAZIL' }).waitFor();
      t.pass('and the other tab follows them in again');
    });

    t.test('a session that the platform ended is told', async (t) => {
      const context = await visitor(t, browser, example, 'ana@example.org');
      const { page, complaints } = await open(context, `${url}/`);
      await page.getByRole('rowheader', { name: 'BRAZIL' }).waitFor();
      platform.faults.endSession('ana@example.org');
      await page.getByText(/^Your session has ended: .* or the platform ended it\.$/).waitFor();
      await page.getByRole('banner').getByText('Nobody is signed in.').waitFor();
      t.equal(await page.getByRole('table').count(), 0);
      t.same(ownComplaints(complaints), []);
    });

    t.test('without scripts, signing in and out still works, as the page says', async (t) => {
      const context = await visitor(t, browser, example, undefined, { javaScriptEnabled: false });
      const { page, complaints } = await open(context, `${url}/`);
      await page.getByText(/^This browser runs no scripts here: you can sign in and out/).waitFor();
      await page.getByRole('link', { name: 'Sign in to see your data' }).click();
      await page.getByRole('button', { name: 'Ana Souza' }).click();
      await page.getByRole('banner').getByText('Signed in as Ana Souza').waitFor();
      await page.getByRole('button', { name: 'Sign out' }).click();
      await page.getByRole('banner').getByText('Nobody is signed in.').waitFor();
      t.equal(page.url(), `${url}/`);
      t.same(complaints, []);
    });

    t.test('somebody without a name and an email is a person too', async (t) => {
      const context = await visitor(t, browser, example, 'e27c91d3-nameless');
      const { page } = await open(context, `${url}/`);
      await page.getByRole('rowheader', { name: 'BRAZIL' }).waitFor();
      await page.getByRole('banner').getByText('somebody without a name').waitFor();
      t.match(await part(page, 'Verified identity').textContent(), 'The account has none');
    });
  });
}
