import {
  ForbiddenError,
  fetchWithSession,
  NetworkError,
  SessionEndedError,
  SignedOutError,
} from '@nn-runtime/browser';
import t from 'tap';
import { html, json, pretendPage, redirect, startStandIn } from './standin.js';

const SESSION = '/.nnumbers/auth/session';

t.test("the application's own answers come back as they are", async (t) => {
  const server = await startStandIn(t);
  pretendPage(t, `${server.url}/deep/page`);
  server.on('GET /api', json(200, { a: 1 }));
  server.on('POST /deep/api', (request, response) => {
    response.writeHead(201, { 'x-seen': String(request.headers['x-mine']) });
    request.pipe(response);
  });
  t.same(await (await fetchWithSession('/api')).json(), { a: 1 });
  const posted = await fetchWithSession('api', {
    method: 'POST',
    body: 'hello',
    headers: { 'x-mine': 'yes' },
  });
  t.equal(posted.status, 201);
  t.equal(posted.headers.get('x-seen'), 'yes');
  t.equal(await posted.text(), 'hello');
  t.equal((await fetchWithSession(new URL('/nope', server.url))).status, 404, 'HTML of a 404 too');
  server.on('PUT /api', json(409, { code: 'QUERYMESH_NOT_ENABLED', message: 'm' }));
  t.equal(
    (await fetchWithSession(new Request(`${server.url}/api`, { method: 'PUT', body: 'x' }))).status,
    409,
  );
  server.on('GET /broken', json(503, {}));
  t.equal((await fetchWithSession('/broken')).status, 503);
  t.equal(server.count(SESSION), 0, 'and the platform is not asked');
});

t.test('a 401 that needs a person is SIGNED_OUT, whatever the platform says then', async (t) => {
  const server = await startStandIn(t);
  pretendPage(t, server.url);
  server.on('GET /api', json(401, { code: 'USER_SESSION_REQUIRED', message: 'm', login_path: '/l' }));
  const error: unknown = await fetchWithSession('/api').catch((error: unknown) => error);
  if (!(error instanceof SignedOutError)) throw new Error('not a SignedOutError');
  t.equal(error.code, 'SIGNED_OUT');
  t.same(await error.response?.json(), { code: 'USER_SESSION_REQUIRED', message: 'm', login_path: '/l' });
  server.state.user = { name: 'Ana' };
  await t.rejects(fetchWithSession('/api'), { code: 'SIGNED_OUT' }, "the broker's session ended first");
  server.on(`GET ${SESSION}`, (_request, response) => response.destroy());
  await t.rejects(fetchWithSession('/api'), { code: 'SIGNED_OUT' }, 'the answer is known already');
});

t.test('a 401 without a code is SIGNED_OUT only when nobody is signed in', async (t) => {
  const server = await startStandIn(t);
  pretendPage(t, server.url);
  server.on('GET /api', html(401, 'sign in'));
  await t.rejects(fetchWithSession('/api'), { code: 'SIGNED_OUT' });
  server.state.user = { name: 'Ana' };
  t.equal((await fetchWithSession('/api')).status, 401, 'otherwise it is the application speaking');
  server.on(`GET ${SESSION}`, (_request, response) => response.destroy());
  await t.rejects(fetchWithSession('/api'), { code: 'NETWORK_DOWN' }, 'and nothing is guessed');
});

t.test('a 401 whose code says something else is the application speaking', async (t) => {
  const server = await startStandIn(t);
  pretendPage(t, server.url);
  server.on('GET /api', json(401, { code: 'IDENTITY_ASSERTION_INVALID', message: 'm' }));
  t.equal((await fetchWithSession('/api')).status, 401);
});

t.test('403 is FORBIDDEN, with its answer', async (t) => {
  const server = await startStandIn(t);
  pretendPage(t, server.url);
  server.on('GET /api', json(403, { code: 'QUERYMESH_ACCESS_DENIED' }));
  const error: unknown = await fetchWithSession('/api').catch((error: unknown) => error);
  if (!(error instanceof ForbiddenError)) throw new Error('not a ForbiddenError');
  t.equal(error.code, 'FORBIDDEN');
  t.same(await error.response?.json(), { code: 'QUERYMESH_ACCESS_DENIED' });
});

t.test(
  'an ended session that became a redirect is SESSION_ENDED, and the redirect is not followed',
  async (t) => {
    const server = await startStandIn(t);
    pretendPage(t, server.url);
    for (const status of [301, 302, 303, 307, 308]) {
      server.on('GET /api', redirect(status, '/sign-in-page'));
      await t.rejects(fetchWithSession('/api'), { name: 'SessionEndedError', code: 'SESSION_ENDED' });
    }
    server.on('POST /api', redirect(302, '/sign-in-page'));
    await t.rejects(fetchWithSession('/api', { method: 'POST', body: 'x' }), SessionEndedError);
    t.equal(server.count('/sign-in-page'), 0);
  },
);

t.test('a redirect of the application itself is followed while the session goes on', async (t) => {
  const server = await startStandIn(t);
  pretendPage(t, server.url);
  server.state.user = { name: 'Ana' };
  server.on('GET /old', redirect(302, '/new'));
  server.on('GET /new', json(200, 'new'));
  const followed = await fetchWithSession(new Request(`${server.url}/old`, { headers: { accept: 'x/y' } }));
  t.equal(await followed.json(), 'new');
  t.equal(followed.url, `${server.url}/new`);
  t.equal(server.requests.at(-1)?.headers.accept, 'x/y');
  server.on('POST /old', redirect(303, '/new'));
  const posted = await fetchWithSession('/old', { method: 'POST' });
  t.equal(posted.status, 303, 'what is not safe to repeat is returned');
  t.equal(server.requests.filter((request) => request.method === 'POST').length, 1, 'and sent once');
});

t.test('a caller who decides about redirects has their way', async (t) => {
  const server = await startStandIn(t);
  pretendPage(t, server.url);
  server.on('GET /old', redirect(302, '/new'));
  server.on('GET /new', json(200, 'new'));
  t.equal((await fetchWithSession('/old', { redirect: 'manual' })).status, 302);
  t.equal(await (await fetchWithSession('/old', { redirect: 'follow' })).json(), 'new');
  t.equal(server.count(SESSION), 0);
  // What a browser does with a followed redirect to another origin that allows nothing: the fetch fails.
  await t.rejects(fetchWithSession('/old', { redirect: 'error' }), SessionEndedError);
  await t.rejects(
    fetchWithSession(new Request(`${server.url}/old`, { redirect: 'error' })),
    SessionEndedError,
  );
  server.state.user = { name: 'Ana' };
  await t.rejects(fetchWithSession('/old', { redirect: 'error' }), NetworkError);
  await t.rejects(fetchWithSession(new Request(`${server.url}/old`, { redirect: 'error' })), NetworkError);
  const reason = new Error('gone');
  const signal = AbortSignal.abort(reason);
  await t.rejects(fetchWithSession('/old', { redirect: 'follow', signal }), reason, 'and their reason back');
});

t.test('HTML nobody asked for is SESSION_ENDED when the session is over', async (t) => {
  const server = await startStandIn(t);
  pretendPage(t, server.url);
  server.on('GET /api', html(200, '<h1>Sign in</h1>'));
  const error: unknown = await fetchWithSession('/api').catch((error: unknown) => error);
  if (!(error instanceof SessionEndedError)) throw new Error('not a SessionEndedError');
  t.equal(await error.response?.text(), '<h1>Sign in</h1>');
  t.notMatch(error.stack, /h1/);
  const asked = await fetchWithSession('/api', { headers: { accept: 'text/html' } });
  t.equal(asked.status, 200, 'asked for, it is returned');
  server.state.user = { name: 'Ana' };
  t.equal((await fetchWithSession('/api')).status, 200, 'with a session, it is the application speaking');
});

t.test('something in front that answers everything with its page is an ended session', async (t) => {
  const server = await startStandIn(t);
  pretendPage(t, server.url);
  server.on('GET /api', redirect(302, '/front'));
  server.on(`GET ${SESSION}`, redirect(302, '/front'));
  await t.rejects(fetchWithSession('/api'), { code: 'SESSION_ENDED' });
  server.on('GET /api', html(200, 'front'));
  server.on(`GET ${SESSION}`, html(200, 'front'));
  await t.rejects(fetchWithSession('/api'), { code: 'SESSION_ENDED' });
  server.on(`GET ${SESSION}`, html(401, 'front'));
  await t.rejects(fetchWithSession('/api'), { code: 'SESSION_ENDED' });
});

t.test('a network that is down is NETWORK_DOWN, and a caller who gave up gets their reason', async (t) => {
  const server = await startStandIn(t);
  pretendPage(t, server.url);
  server.on('GET /api', (_request, response) => response.destroy());
  await t.rejects(fetchWithSession('/api'), { name: 'NetworkError', code: 'NETWORK_DOWN' });
  t.equal(server.count(SESSION), 0, 'a dead network is not asked twice');
  const reason = new Error('gone');
  await t.rejects(fetchWithSession('/api', { signal: AbortSignal.abort(reason) }), reason);
  const controller = new AbortController();
  server.on('GET /api', redirect(302, '/x'));
  server.on(`GET ${SESSION}`, () => controller.abort(reason));
  await t.rejects(
    fetchWithSession('/api', { signal: controller.signal }),
    reason,
    'also while the platform is asked',
  );
});

t.test('nothing is sent to another origin, nor with arguments that fetch does not take', async (t) => {
  const server = await startStandIn(t);
  const other = await startStandIn(t);
  pretendPage(t, server.url);
  await t.rejects(fetchWithSession(`${other.url}/api`), TypeError);
  await t.rejects(fetchWithSession(new Request(`${other.url}/api`)), TypeError);
  await t.rejects(fetchWithSession(`${other.url.replace('http:', '')}/api`), TypeError);
  await t.rejects(fetchWithSession('/api', { method: 'GET', body: 'x' }), TypeError);
  await t.rejects(fetchWithSession('http://['), TypeError);
  t.equal(server.requests.length + other.requests.length, 0);
});
