import t from 'tap';
import { launchBrowser } from '../browser/chromium.js';
import { examples, open, ownComplaints, part, startExample, visitor } from './example.js';

const browser = await launchBrowser(t);

for (const name of examples) {
  t.test(name, async (t) => {
    const example = await startExample(t, name);
    const { platform, url } = example;

    t.test('a long query shows that it runs, and cancelling it ends it at the broker', async (t) => {
      const context = await visitor(t, browser, example, 'ana@example.org');
      const { page, complaints } = await open(context, `${url}/`);
      const long = part(page, 'A long query');
      await long.getByRole('button', { name: 'Run the query' }).click();
      await long.getByRole('progressbar', { name: 'The long query is running' }).waitFor();
      // By then the query is with the broker.
      await long
        .getByRole('timer')
        .filter({ hasText: /^[1-9]\d*\.\d s$/ })
        .waitFor();
      t.equal(await long.getByRole('button', { name: 'Run the query' }).count(), 0);
      t.equal(await page.locator(':focus').getAttribute('id'), 'cancel', 'the focus went along');

      await long.getByRole('button', { name: 'Cancel' }).click();
      await long
        .getByRole('status')
        .filter({ hasText: /^Cancelled after \d+\.\d s\.$/ })
        .waitFor();
      t.equal(await long.getByRole('progressbar').count(), 0);
      t.equal(await page.locator(':focus').getAttribute('id'), 'run');

      const atEdge = await example.exchange(({ path }) => path === '/api/long-query');
      t.match(atEdge, { part: 'edge', complete: false, person: { sub: '5b1c7a0e-ana' } });
      const atBroker = await example.exchange(({ part, complete }) => part === 'broker' && !complete);
      t.match(atBroker, { path: '/v1/querymesh/query', person: { sub: '5b1c7a0e-ana' } });
      t.equal(atBroker.statusCode, undefined, 'the broker had nothing to answer any more');
      t.same(complaints, []);
    });

    t.test('what QueryMesh refuses is said with its code, and what to do', async (t) => {
      platform.faults.set({ deny: ['bruno@example.org'] });
      t.teardown(() => platform.faults.set({ deny: [] }));
      const context = await visitor(t, browser, example, 'bruno@example.org');
      const { page, complaints } = await open(context, `${url}/`);
      const nations = part(page, 'Nations');
      const alert = nations.getByRole('alert');
      await alert.waitFor();
      t.match(
        await alert.textContent(),
        /The data policies of your organization do not let you see this\. Ask your data administrator for access\.Code QUERYMESH_ACCESS_DENIED/,
      );
      platform.faults.set({ deny: [], capability: false });
      await nations.getByRole('button', { name: 'Try again' }).click();
      await alert.filter({ hasText: 'QUERYMESH_NOT_ENABLED' }).waitFor();
      platform.faults.set({ capability: true });
      await nations.getByRole('button', { name: 'Try again' }).click();
      await nations.getByRole('rowheader', { name: 'BRAZIL' }).waitFor();
      t.equal(await alert.count(), 0);
      t.same(ownComplaints(complaints), []);
    });

    t.test('a code that nobody knows is shown as text, whatever it is', async (t) => {
      const context = await visitor(t, browser, example, 'ana@example.org');
      for (const code of ['constructor', '__proto__', 'toString', '<img src=x onerror=alert(1)>']) {
        await context.route('**/api/nations', (route) => route.fulfill({ status: 500, json: { code } }));
        const { page, complaints } = await open(context, `${url}/`);
        const alert = part(page, 'Nations').getByRole('alert');
        await alert.waitFor();
        t.equal(
          await alert.textContent(),
          `Something went wrong. Try again; if it fails again, report the code.Code ${code}Try again`,
        );
        t.same(ownComplaints(complaints), []);
        await page.close();
        await context.unroute('**/api/nations');
      }
    });

    t.test('values and names are text: nothing in them runs', async (t) => {
      const context = await visitor(t, browser, example, 'ana@example.org');
      const evil = '<img src=x onerror="document.title=1"><script>document.title=1</script>';
      await context.route('**/api/nations', (route) =>
        route.fulfill({ json: { columns: [{ name: evil, type: evil }], rows: [[evil]] } }),
      );
      await context.route('**/api/regions', (route) =>
        route.fulfill({ json: { columns: [], rows: [[evil, 1]] } }),
      );
      await context.route('**/api/me', (route) =>
        route.fulfill({
          json: {
            ...{ kind: 'person', subject: evil, name: evil, email: evil },
            ...{ organization: { slug: evil }, expiresAt: evil },
          },
        }),
      );
      const { page, complaints } = await open(context, `${url}/`);
      for (const name of ['Nations', 'Verified identity'])
        await part(page, name).getByText(evil).first().waitFor();
      await page.locator('#regions text.label').getByText(evil).waitFor();
      t.equal(await page.locator('main img, main script').count(), 0);
      t.match(await page.title(), /^Who signed in/);
      t.same(ownComplaints(complaints), []);
    });
  });
}
