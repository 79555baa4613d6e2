import { startPlatform } from '@nn-runtime/dev';
import t from 'tap';
import { collectComplaints, launchBrowser } from '../browser/chromium.js';
import { ask } from './fixtures/http.js';

t.test('faults, keys and sessions from the control page, in a browser', async (t) => {
  const platform = await startPlatform({ apps: [{ id: 'shop' }] });
  t.teardown(() => platform.close());
  const { cookie } = await platform.signIn('ana@example.org');
  const state = async () => JSON.parse((await ask(`${platform.brokerUrl}/dev/state`)).text);
  const [firstKey] = (await state()).keys;

  const browser = await launchBrowser(t);
  const page = await browser.newPage();
  const complaints = collectComplaints(page);
  await page.goto(`${platform.brokerUrl}/dev`);
  const outcome = page.getByRole('status');
  const done = (text: string) => outcome.filter({ hasText: text }).waitFor();

  await page.getByLabel('Broker', { exact: true }).selectOption('slow');
  await page.getByLabel('Key set', { exact: true }).selectOption('garbage');
  await page.getByLabel('QueryMesh', { exact: true }).selectOption('rejects');
  await page.getByLabel('The broker has its keys').uncheck();
  await page.getByLabel('The organization has configured QueryMesh').uncheck();
  await page.getByLabel('The application has the querymesh capability').uncheck();
  await page.getByLabel(/clock is ahead/).fill('-90');
  await page.getByLabel('Bruno Lima', { exact: true }).check();
  await page.getByRole('button', { name: 'Apply' }).click();
  await done('Done: {"broker":"slow"');
  t.strictSame((await state()).faults, {
    broker: 'slow',
    jwks: 'garbage',
    brokerKeys: false,
    queryMesh: 'rejects',
    integration: false,
    capability: false,
    deny: ['bruno@example.org'],
    clockOffsetSeconds: -90,
  });

  await page.getByRole('button', { name: 'Rotate the key' }).click();
  await page.locator('#keys', { hasText: `${firstKey}, dev-` }).waitFor();
  await page.getByRole('button', { name: 'Withdraw the oldest key' }).click();
  await done(`Done: {"kid":"${firstKey}"}`);
  t.equal((await state()).keys.length, 1);

  await page.getByRole('button', { name: 'End the sessions of Ana Souza' }).click();
  await done('Done: {"ended":1}');
  const session = await ask(`${platform.apps.shop.url}/.nnumbers/auth/session`, { headers: { cookie } });
  t.equal(JSON.parse(session.text).user, null);

  await page.reload();
  t.equal(
    await page.getByLabel('QueryMesh', { exact: true }).inputValue(),
    'rejects',
    'the page shows what is',
  );
  t.equal(await page.getByLabel('Bruno Lima', { exact: true }).isChecked(), true);
  t.strictSame(complaints, []);
});
