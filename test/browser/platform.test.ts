import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { startPlatform } from '@nn-runtime/dev';
import nnumbers, { assertPerson, requirePerson } from '@nn-runtime/fastify';
import fastify from 'fastify';
import type { Page } from 'playwright-core';
import t, { type Test } from 'tap';
import { launchBrowser } from './chromium.js';
import { HEADERS, knows, openTab, pageHtml, pageScript } from './page.js';

const browser = await launchBrowser(t);
const script = await pageScript('page.js');

/** An application behind the local platform: a page for everybody, a page and data for people only. */
const startApp = async (t: Test) => {
  // The platform wants the application's address, and the application the platform's environment: the address comes first.
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const own = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const platform = await startPlatform({ apps: [{ id: 'shop', url: own }] });
  const app = fastify({ serverFactory: (handler) => server.on('request', handler) });
  await app.register(nnumbers, { env: platform.apps.shop.env });
  app.addHook('onRequest', async (_request, reply) => {
    reply.headers(HEADERS);
  });
  app.get('/page.js', (_request, reply) => reply.type('text/javascript').send(script));
  app.get('/', (_request, reply) => reply.type('text/html').send(pageHtml));
  app.get('/orders', { onRequest: requirePerson() }, (_request, reply) =>
    reply.type('text/html').send(pageHtml),
  );
  app.get('/api/me', { onRequest: requirePerson() }, (request) => {
    assertPerson(request.identity);
    return { subject: request.identity.subject };
  });
  await app.ready();
  const context = await browser.newContext();
  t.teardown(async () => {
    await context.close();
    await platform.close();
    await app.close();
    server.closeAllConnections();
    server.close();
  });
  return { platform, url: platform.apps.shop.url, context };
};

/** On the IAM's page: choose who signs in, and wait until the application's page knows. */
const choose = async (page: Page, home: string, name: string) => {
  await page.getByRole('button', { name }).click();
  await page.waitForURL((address) => address.origin === home);
  await page.waitForLoadState('load');
};

const signInFrom = async (page: Page) => {
  await page.evaluate('browser.signIn()');
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
};

t.test('a person signs in, sees their name, and every tab follows them out and in again', async (t) => {
  const { url, context } = await startApp(t);
  const first = await openTab(context, `${url}/?list=open#row-3`);
  const second = await openTab(context, `${url}/`);
  t.equal(await first.page.title(), 'nobody');

  await signInFrom(first.page);
  t.not(new URL(first.page.url()).origin, url, 'the sign-in is elsewhere');
  await choose(first.page, url, 'Ana Souza');
  t.equal(await knows(first.page), 'Ana Souza');
  t.equal(first.page.url(), `${url}/?list=open#row-3`, 'back where the sign-in began');
  t.equal(await second.page.evaluate(`shows('nobody')`), 'Ana Souza', 'the other tab follows');
  const me = `outcome(async () => (await browser.fetchWithSession('/api/me')).json())`;
  t.same(await second.page.evaluate(me), { value: { subject: '5b1c7a0e-ana' } });

  t.same(await second.page.evaluate('outcome(() => browser.signOut())'), {});
  t.equal(await knows(first.page, 'Ana Souza'), 'nobody');
  t.equal(await knows(second.page, 'Ana Souza'), 'nobody');

  const loaded = first.page.waitForEvent('load');
  await first.page.evaluate('browser.signIn()');
  await loaded;
  t.equal(await knows(first.page), 'Ana Souza', 'again, without being asked');
  t.equal(await second.page.evaluate(`shows('nobody')`), 'Ana Souza');
  t.same([...first.complaints, ...second.complaints], [], 'no console error, no violation of the policy');
});

t.test('a guarded page comes back to itself after sign-in', async (t) => {
  const { url, context } = await startApp(t);
  const page = await context.newPage();
  await page.goto(`${url}/orders?state=open&x=a%20b`);
  t.not(new URL(page.url()).origin, url);
  await choose(page, url, 'Bruno Lima');
  t.equal(page.url(), `${url}/orders?state=open&x=a%20b`);
  t.equal(await knows(page), 'Bruno Lima');
});

t.test('an account with neither name nor email is a person too', async (t) => {
  const { url, context } = await startApp(t);
  const { page } = await openTab(context, `${url}/`);
  await signInFrom(page);
  await choose(page, url, 'e27c91d3-nameless');
  await page.waitForLoadState('load');
  t.same(await page.evaluate('outcome(async () => (await browser.getSession()).user)'), {
    value: { sub: 'e27c91d3-nameless' },
  });
  t.match(await page.evaluate('outcome(() => browser.getContext())'), { value: { app: { id: 'shop' } } });
});

t.test('a session that the platform ended is told to the person', async (t) => {
  const { platform, url, context } = await startApp(t);
  const { cookie } = await platform.signIn('ana@example.org');
  const [name = '', value = ''] = cookie.split(/=(.*)/s);
  await context.addCookies([{ name, value, url, httpOnly: true }]);
  const first = await openTab(context, `${url}/`);
  const second = await openTab(context, `${url}/`);
  t.equal(await first.page.title(), 'Ana Souza');

  platform.faults.endSession('ana@example.org');
  t.same(await first.page.evaluate(`outcome(() => browser.fetchWithSession('/api/me'))`), {
    name: 'SignedOutError',
    code: 'SIGNED_OUT',
    status: 401,
  });
  t.equal(await knows(first.page, 'Ana Souza'), 'nobody');
  t.equal(await knows(second.page, 'Ana Souza'), 'nobody', 'in every tab');
  const led = `outcome(() => browser.fetchWithSession('/.nnumbers/auth/login?return_to=/api/me'))`;
  t.same(await first.page.evaluate(led), {
    name: 'SessionEndedError',
    code: 'SESSION_ENDED',
    status: 0,
  });
});

t.test('no return_to leads away from home, whoever writes the link', async (t) => {
  const { url, context } = await startApp(t);
  const page = await context.newPage();
  for (const attack of ['//evil.example', '/\\evil.example', '/\t/evil.example', 'https://evil.example/']) {
    const response = await page.goto(`${url}/.nnumbers/auth/login?return_to=${encodeURIComponent(attack)}`);
    t.equal(response?.status(), 400, JSON.stringify(attack));
    t.equal(new URL(page.url()).origin, url);
  }
});
