import t, { type Test } from 'tap';
import { launchBrowser } from './chromium.js';
import { knows, openTab, servePage } from './page.js';
import { html, json, redirect, startStandIn } from './standin.js';

const browser = await launchBrowser(t);

const startApp = async (test: Test) => {
  const server = await startStandIn(test);
  server.state.user = { name: 'Ana' };
  await servePage(server, 'page.js', '/', '/deep/page');
  const context = await browser.newContext();
  test.teardown(() => context.close());
  return { server, context };
};

t.test('one tab signs out, and every other tab of the browser follows', async (t) => {
  const { server, context } = await startApp(t);
  const first = await openTab(context, `${server.url}/`);
  const second = await openTab(context, `${server.url}/deep/page`);
  t.equal(await first.page.title(), 'Ana');
  t.equal(await second.page.title(), 'Ana');

  t.same(await first.page.evaluate('outcome(() => browser.signOut())'), {});
  await knows(first.page, 'Ana');
  await knows(second.page, 'Ana');
  t.equal(await first.page.title(), 'nobody');
  t.equal(await second.page.title(), 'nobody');
  t.same(await second.page.evaluate('heard'), [null], 'told once');

  const post = server.requests.find((request) => request.method === 'POST');
  t.equal(post?.headers.origin, server.url, 'the browser sent Origin, although the page has no-referrer');
  t.equal(post?.headers['sec-fetch-site'], 'same-origin');
  t.equal(server.requests.filter((request) => request.method === 'POST').length, 1);
  t.equal(server.count('/'), 1, 'the 303 was not followed');
  t.same([...first.complaints, ...second.complaints], [], 'no console error, no violation of the policy');
});

t.test('a tab that is looked at again finds out by itself', async (t) => {
  const { server, context } = await startApp(t);
  const { page, complaints } = await openTab(context, `${server.url}/`);
  server.state.user = null;
  await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`);
  await knows(page, 'Ana');
  t.same(await page.evaluate('heard'), [null]);
  server.state.user = { name: 'Bia' };
  await page.evaluate(`dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))`);
  await knows(page, 'nobody');
  server.state.user = { name: 'Caio' };
  await page.evaluate(`dispatchEvent(new Event('online'))`);
  await knows(page, 'Bia');
  t.equal(await page.title(), 'Caio');
  t.same(complaints, []);
});

t.test('a page that is not looked at, and one that just loaded, ask nothing', async (t) => {
  const { server, context } = await startApp(t);
  const { page } = await openTab(context, `${server.url}/`);
  const before = server.count('/.nnumbers/auth/session');
  await page.evaluate(`{
    dispatchEvent(new PageTransitionEvent('pageshow', { persisted: false }));
    Object.defineProperty(document, 'visibilityState', { value: 'hidden' });
    document.dispatchEvent(new Event('visibilitychange'));
    dispatchEvent(new Event('online'));
  }`);
  // Whatever these started is out before the answer to a question that comes after it.
  await page.evaluate('browser.getContext()');
  t.equal(server.count('/.nnumbers/auth/session'), before);
});

t.test('a relative address means what it means to fetch, under a base element too', async (t) => {
  const { server, context } = await startApp(t);
  const { page } = await openTab(context, `${server.url}/`);
  server.on('GET /based/data', json(200, 'based'));
  await page.evaluate(
    `document.head.append(Object.assign(document.createElement('base'), { href: '/based/' }))`,
  );
  t.same(await page.evaluate(`outcome(async () => (await browser.fetchWithSession('data')).json())`), {
    value: 'based',
  });
});

t.test('a page that came back from sign-in tells the other tabs', async (t) => {
  const { server, context } = await startApp(t);
  server.state.user = null;
  const other = await openTab(context, `${server.url}/`);
  const { page } = await openTab(context, `${server.url}/deep/page?x=1#row`);
  server.on('GET /.nnumbers/auth/login', (request, response) => {
    server.state.user = { name: 'Ana' };
    const target = new URL(request.url ?? '', server.url).searchParams.get('return_to');
    redirect(302, target ?? '')(request, response);
  });
  const loaded = page.waitForEvent('load');
  await page.evaluate('browser.signIn()');
  await loaded;
  t.equal(await knows(page), 'Ana');
  t.equal(page.url(), `${server.url}/deep/page?x=1#row`, 'back where it was');
  await knows(other.page, 'nobody');
  t.equal(await other.page.title(), 'Ana');
});

t.test('no return_to leads away from home', async (t) => {
  const { server, context } = await startApp(t);
  const { page } = await openTab(context, `${server.url}/`);
  for (const attack of [
    '//evil.example',
    '/\\evil.example',
    '/\t/evil.example',
    '\n//evil.example',
    '/.//evil.example',
    'https://evil.example/',
    'javascript:document.title="evil"',
    'blob:null/x',
  ]) {
    t.same(
      await page.evaluate(`outcome(() => browser.signIn(${JSON.stringify(attack)}))`),
      { name: 'TypeError' },
      JSON.stringify(attack),
    );
  }
  const blob =
    'outcome(() => browser.signIn(URL.createObjectURL(new Blob(["<p>evil"], { type: "text/html" }))))';
  t.same(await page.evaluate(blob), { name: 'TypeError' }, 'a blob of the page itself');
  t.equal(page.url(), `${server.url}/`);
  t.equal(await page.title(), 'Ana');
});

t.test('a page that signs in again and again is stopped, and a link still works', async (t) => {
  const { server, context } = await startApp(t);
  let visits = 0;
  server.on('GET /.nnumbers/auth/login', (request, response) => {
    visits++;
    redirect(302, '/')(request, response);
  });
  const { page } = await openTab(context, `${server.url}/`);
  for (let i = 0; i < 3; i++) {
    const loaded = page.waitForEvent('load');
    await page.evaluate('browser.signIn()');
    await loaded;
    await knows(page);
  }
  t.same(await page.evaluate('outcome(() => browser.signIn())'), {
    name: 'SignInLoopError',
    code: 'SIGN_IN_LOOP',
  });
  t.equal(visits, 3);
  await page.evaluate(`document.body.append(Object.assign(document.createElement('a'), {
    textContent: 'Sign in', href: browser.signInUrl() }))`);
  const loaded = page.waitForEvent('load');
  await page.click('a');
  await loaded;
  t.equal(visits, 4);
});

t.test('an ended session that turned a fetch into a redirect or HTML is told as such', async (t) => {
  const { server, context } = await startApp(t);
  const iam = await startStandIn(t);
  iam.on('GET /authorize', html(200, 'sign in'));
  const { page, complaints } = await openTab(context, `${server.url}/`);
  server.on('GET /api/redirect', redirect(302, `${iam.url}/authorize`));
  server.on('POST /api/redirect', redirect(302, `${iam.url}/authorize`));
  server.on('GET /api/html', html(200, 'sign in'));
  server.on('GET /api/ok', json(200, { ok: true }));

  server.state.user = null;
  t.same(await page.evaluate(`outcome(() => browser.fetchWithSession('/api/redirect'))`), {
    name: 'SessionEndedError',
    code: 'SESSION_ENDED',
    status: 0,
  });
  await knows(page, 'Ana');
  t.equal(await page.title(), 'nobody', 'and the listeners were told');
  t.same(
    await page.evaluate(
      `outcome(() => browser.fetchWithSession('/api/redirect', { method: 'POST', body: 'x' }))`,
    ),
    {
      name: 'SessionEndedError',
      code: 'SESSION_ENDED',
      status: 0,
    },
  );
  t.same(await page.evaluate(`outcome(() => browser.fetchWithSession('/api/html'))`), {
    name: 'SessionEndedError',
    code: 'SESSION_ENDED',
    status: 200,
  });
  t.same(await page.evaluate(`outcome(async () => (await browser.fetchWithSession('/api/ok')).json())`), {
    value: { ok: true },
  });
  t.equal(iam.requests.length, 0, 'nobody was sent to the sign-in behind their back');
  t.same(complaints, [], 'not even a message about CORS');
});

t.test(
  'a redirect of the application itself is followed, and a POST that was redirected is not repeated',
  async (t) => {
    const { server, context } = await startApp(t);
    const { page, complaints } = await openTab(context, `${server.url}/`);
    server.on('GET /api/old', redirect(302, '/api/new'));
    server.on('POST /api/old', redirect(303, '/api/new'));
    server.on('GET /api/new', json(200, 'new'));
    t.same(await page.evaluate(`outcome(async () => (await browser.fetchWithSession('/api/old')).json())`), {
      value: 'new',
    });
    const post = `outcome(async () => (await browser.fetchWithSession('/api/old', { method: 'POST' })).type)`;
    t.same(await page.evaluate(post), { value: 'opaqueredirect' });
    t.equal(server.requests.filter((request) => request.method === 'POST').length, 1);
    t.same(complaints, []);
  },
);

t.test(
  'followed by the caller’s wish to a sign-in on another origin, it is still an ended session',
  async (t) => {
    const { server, context } = await startApp(t);
    const iam = await startStandIn(t);
    iam.on('GET /authorize', html(200, 'sign in'));
    const { page } = await openTab(context, `${server.url}/`);
    server.on('GET /api', redirect(302, `${iam.url}/authorize`));
    server.state.user = null;
    const follow = `outcome(() => browser.fetchWithSession('/api', { redirect: 'follow' }))`;
    t.same(await page.evaluate(follow), { name: 'SessionEndedError', code: 'SESSION_ENDED' });
    server.state.user = { name: 'Ana' };
    t.same(await page.evaluate(follow), { name: 'NetworkError', code: 'NETWORK_DOWN' });
  },
);

t.test('signed out, forbidden and a dead network are three different things', async (t) => {
  const { server, context } = await startApp(t);
  const { page } = await openTab(context, `${server.url}/`);
  server.on('GET /api/401', json(401, { code: 'USER_SESSION_REQUIRED', message: 'm', login_path: '/l' }));
  server.on('GET /api/403', json(403, {}));
  server.on('GET /api/cut', (_request, response) => response.destroy());
  const ask = (path: string) => page.evaluate(`outcome(() => browser.fetchWithSession('${path}'))`);
  t.same(await ask('/api/401'), { name: 'SignedOutError', code: 'SIGNED_OUT', status: 401 });
  t.same(await ask('/api/403'), { name: 'ForbiddenError', code: 'FORBIDDEN', status: 403 });
  t.same(await ask('/api/cut'), { name: 'NetworkError', code: 'NETWORK_DOWN' });
  await server.close();
  t.same(await page.evaluate('outcome(() => browser.getSession())'), {
    name: 'NetworkError',
    code: 'NETWORK_DOWN',
  });
  t.same(await page.evaluate('outcome(() => browser.signOut())'), {
    name: 'NetworkError',
    code: 'NETWORK_DOWN',
  });
});
