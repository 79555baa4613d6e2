import { startPlatform } from '@nn-runtime/dev';
import t from 'tap';
import { launchBrowser } from '../browser/chromium.js';
import { freePort } from '../free-port.js';
import { open, ownComplaints, part, startExample, visitor } from './example.js';

const browser = await launchBrowser(t);

t.test('the application, its edge and the engine are restarted, and the rows come anew', async (t) => {
  // An engine of its own, which can end without the platform that people are signed in to.
  const nyxdb = await freePort();
  const startEngine = async (token: string) => {
    const claims = { user_id: '5b1c7a0e-ana', tenant: 'org_local', role: 'member' };
    const engine = await startPlatform({
      apps: [{ id: 'engine' }],
      ports: { nyxdb },
      nyxdb: { sessions: [{ token, claims }] },
    });
    t.teardown(() => engine.close());
    return engine;
  };
  const example = await startExample(t, 'express-app', { NYXDB_URL: `ws://127.0.0.1:${nyxdb}` });
  const context = await visitor(t, browser, example, 'ana@example.org');
  const { sessionId } = await (await context.request.get(`${example.url}/api/me`)).json();
  const engine = await startEngine(sessionId);

  const { page, complaints } = await open(context, `${example.url}/`);
  const fills = part(page, 'Your fills, live');
  const state = (word: string) => fills.getByRole('status').getByText(word, { exact: true }).waitFor();
  const price = (text: string) => fills.getByRole('cell', { name: text }).waitFor();
  await state('Live');
  await price('64011.00');
  await engine.nyxdb.write('UPDATE fills SET price = 70000.50 WHERE fill_id = 3');
  await price('70000.50');

  example.app.kill('SIGKILL');
  await example.app.ended;
  await engine.close();
  await state('Stale');
  t.match(
    await fills.getByRole('status').textContent(),
    /The connection was lost at .*\. These rows may be out of date; connecting again by itself\./,
  );
  await price('70000.50');
  t.pass('what was there is still to be read');

  await example.restart();
  await startEngine(sessionId);
  await state('Live');
  await price('64011.00');
  t.equal(await fills.getByRole('cell', { name: '70000.50' }).count(), 0, 'nothing of before is left');
  t.same(ownComplaints(complaints), []);
});
