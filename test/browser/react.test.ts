import { createRequire } from 'node:module';
import { SessionProvider, useSession } from '@nn-runtime/browser/react';
import t, { type Test } from 'tap';
import { launchBrowser } from './chromium.js';
import { openTab, servePage } from './page.js';
import { json, startStandIn } from './standin.js';

// React is there for the package's development only, so it is taken from the package.
const require = createRequire(new URL('../../packages/browser/package.json', import.meta.url));
const { createElement } = require('react');
const { renderToString } = require('react-dom/server');

const Who = () => {
  const { status, user, organization, error } = useSession();
  return createElement('p', null, JSON.stringify({ status, user, organization, error }));
};

const render = (props: object): string =>
  renderToString(createElement(SessionProvider, props, createElement(Who))).replaceAll('&quot;', '"');

t.test('on a server nothing is asked: the status is loading, or what the server knew', async (t) => {
  t.intercept(globalThis, 'fetch', { value: () => t.fail('a server asked'), configurable: true });
  t.equal(render({}), '<p>{"status":"loading","user":null}</p>');
  const organization = { id: 'org_1', slug: 'acme' };
  t.equal(
    render({ session: { user: { name: 'Ana' }, organization } }),
    '<p>{"status":"signed-in","user":{"name":"Ana"},"organization":{"id":"org_1","slug":"acme"}}</p>',
  );
  t.equal(
    render({ session: { user: null, organization } }),
    '<p>{"status":"signed-out","user":null,"organization":{"id":"org_1","slug":"acme"}}</p>',
  );
});

t.test('without a provider useSession says what is missing', async (t) => {
  t.throws(() => renderToString(createElement(Who)), {
    message: 'useSession needs a SessionProvider above it',
  });
});

t.test('in a page', async (t) => {
  const browser = await launchBrowser(t);
  const open = async (t: Test) => {
    const server = await startStandIn(t);
    server.state.user = { name: 'Ana' };
    await servePage(server, 'react-page.js', '/');
    const context = await browser.newContext();
    t.teardown(() => context.close());
    return { server, tab: (): ReturnType<typeof openTab> => openTab(context, `${server.url}/`) };
  };
  const reads = (text: string) => `reads(${JSON.stringify(text)})`;

  await t.test('it shows who is signed in, and follows a sign-out in another tab', async (t) => {
    const { server, tab } = await open(t);
    const { page, complaints } = await tab();
    await page.evaluate(reads('signed-in Ana acme'));
    server.state.user = null;
    await page.evaluate(`{
      const tab = new BroadcastChannel('nn-runtime.session');
      tab.postMessage('changed');
      tab.close();
    }`);
    t.equal(await page.evaluate(reads('signed-out acme')), 'signed-out acme');
    server.state.user = { name: 'Bia' };
    await page.evaluate('refresh()');
    t.equal(await page.evaluate(reads('signed-in Bia acme')), 'signed-in Bia acme');
    t.same(complaints, []);
  });

  await t.test('a failed question is told beside what was known', async (t) => {
    const { server, tab } = await open(t);
    const { page } = await tab();
    await page.evaluate(reads('signed-in Ana acme'));
    server.on('GET /.nnumbers/auth/session', (_request, response) => response.destroy());
    await page.evaluate('refresh()');
    t.ok(await page.evaluate(reads('signed-in Ana acme NETWORK_DOWN')));
  });

  await t.test('a first question that failed is an error, and heals by itself', async (t) => {
    const { server, tab } = await open(t);
    server.on('GET /.nnumbers/auth/session', json(500, {}));
    const { page } = await tab();
    await page.evaluate(reads('error PROTOCOL_ERROR'));
    server.on(
      'GET /.nnumbers/auth/session',
      json(203, { user: null, organization: { id: 'o', slug: 'acme' } }),
    );
    await page.evaluate(`dispatchEvent(new Event('online'))`);
    t.ok(await page.evaluate(reads('signed-out acme')));
  });

  await t.test('a slow answer to an older question does not bring back who signed out', async (t) => {
    const { server, tab } = await open(t);
    const { page } = await tab();
    await page.evaluate(reads('signed-in Ana acme'));
    const organization = { id: 'org_1', slug: 'acme' };
    let release = () => {};
    const arrived = new Promise<void>((resolve) => {
      server.on('GET /.nnumbers/auth/session', (request, response) => {
        release = () => json(203, { user: { name: 'Ana' }, organization })(request, response);
        resolve();
      });
    });
    const old = page.evaluate('refresh()');
    await arrived;
    server.on('GET /.nnumbers/auth/session', json(203, { user: null, organization }));
    await page.evaluate(`dispatchEvent(new Event('online'))`);
    await page.evaluate(reads('signed-out acme'));
    await page.evaluate(`{
      globalThis.shown = [];
      const observer = new MutationObserver(() => shown.push(document.title));
      observer.observe(document.head, { childList: true, subtree: true, characterData: true });
    }`);
    release();
    await old;
    server.on('GET /.nnumbers/auth/session', json(203, { user: { name: 'Bia' }, organization }));
    await page.evaluate('refresh()');
    await page.evaluate(reads('signed-in Bia acme'));
    t.same(await page.evaluate('shown'), ['signed-in Bia acme']);
  });

  await t.test('off the page it asks nothing more', async (t) => {
    const { server, tab } = await open(t);
    const { page } = await tab();
    await page.evaluate(reads('signed-in Ana acme'));
    await page.evaluate('root.unmount()');
    const before = server.count('/.nnumbers/auth/session');
    await page.evaluate(`dispatchEvent(new Event('online'))`);
    await page.evaluate(`fetch('/marker')`);
    t.equal(server.count('/.nnumbers/auth/session'), before);
  });
});
