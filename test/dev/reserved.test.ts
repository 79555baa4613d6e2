import { startPlatform } from '@nn-runtime/dev';
import t from 'tap';
import { application } from './fixtures/application.js';
import { ask } from './fixtures/http.js';

const app = await application(t);
const platform = await startPlatform({
  apps: [{ id: 'shop', url: app.url }],
  organization: { id: 'org_1', slug: 'acme' },
});
t.teardown(() => platform.close());
const edge = platform.apps.shop.url;
const ana = await platform.signIn('ana@example.org');

t.test('login sends the browser to the IAM, with PKCE, state and nonce', async (t) => {
  const answer = await ask(`${edge}/.nnumbers/auth/login?return_to=/orders`);
  t.equal(answer.status, 302);
  t.equal(answer.headers['cache-control'], 'no-store');
  const location = new URL(answer.headers.location ?? '');
  t.equal(location.origin, platform.iamUrl);
  const query = location.searchParams;
  t.equal(query.get('client_id'), 'shop');
  t.equal(query.get('response_type'), 'code');
  t.equal(query.get('redirect_uri'), `${edge}/.nnumbers/auth/callback`);
  t.equal(query.get('code_challenge_method'), 'S256');
  t.match(query.get('code_challenge'), /^[\w-]{43}$/);
  t.match(query.get('state'), /^[\w-]{43}$/);
  t.match(query.get('nonce'), /^[\w-]{43}$/);
  t.match(query.get('scope'), /\bopenid\b/);
  t.equal(query.has('client_secret'), false);
});

t.test('a callback that nobody started is refused, and makes no session', async (t) => {
  const answer = await ask(`${edge}/.nnumbers/auth/callback?code=x&state=y`);
  t.equal(answer.status, 400);
  t.equal(JSON.parse(answer.text).code, 'VALIDATION_FAILED');
  t.equal(answer.headers['cache-control'], 'no-store');
  t.same(answer.setCookies, []);
});

t.test('session says who signed in, as 203', async (t) => {
  const answer = await ask(`${edge}/.nnumbers/auth/session`, { headers: { cookie: ana.cookie } });
  t.equal(answer.status, 203);
  t.equal(answer.headers['cache-control'], 'no-store');
  t.match(answer.headers['content-type'], /^application\/json/);
  const { user, organization } = JSON.parse(answer.text);
  t.equal(user.name, 'Ana Souza');
  t.equal(user.email, 'ana@example.org');
  t.same(organization, { id: 'org_1', slug: 'acme' });
});

t.test('session says null for nobody', async (t) => {
  const answer = await ask(`${edge}/.nnumbers/auth/session`);
  t.equal(answer.status, 203);
  t.equal(answer.text, '{"user":null,"organization":{"id":"org_1","slug":"acme"}}');
});

t.test('context names the application, the organization and the two paths', async (t) => {
  const answer = await ask(`${edge}/.nnumbers/v1/context`);
  t.equal(answer.status, 203);
  t.equal(answer.headers['cache-control'], 'no-store');
  t.same(JSON.parse(answer.text), {
    app: { id: 'shop' },
    organization: { id: 'org_1', slug: 'acme' },
    auth: { login_path: '/.nnumbers/auth/login', logout_path: '/.nnumbers/auth/logout' },
  });
});

t.test('logout needs the Origin of the address itself', async (t) => {
  const { cookie } = await platform.signIn('bruno@example.org');
  const port = new URL(edge).port;
  const others = [
    undefined,
    'null',
    'https://evil.example',
    'http://127.0.0.1',
    `https://127.0.0.1:${port}`,
    `http://localhost:${port}`,
    `${edge}/`,
    platform.iamUrl,
  ];
  for (const origin of others) {
    const answer = await ask(`${edge}/.nnumbers/auth/logout`, {
      method: 'POST',
      headers: { cookie, ...(origin === undefined ? {} : { origin }) },
    });
    t.equal(answer.status, 403, `Origin ${origin}`);
    t.equal(answer.headers['cache-control'], 'no-store');
  }
  const still = await ask(`${edge}/.nnumbers/auth/session`, { headers: { cookie } });
  t.equal(JSON.parse(still.text).user.name, 'Bruno Lima', 'a refused sign-out ends nothing');

  const answer = await ask(`${edge}/.nnumbers/auth/logout`, {
    method: 'POST',
    headers: { cookie, origin: edge },
  });
  t.equal(answer.status, 303);
  t.equal(answer.headers.location, '/');
  t.equal(answer.headers['cache-control'], 'no-store');
  t.match(answer.setCookies[0], /^__nnumbers_session_\d+=; Path=\/; Max-Age=0; HttpOnly; SameSite=Lax$/);
  const after = await ask(`${edge}/.nnumbers/auth/session`, { headers: { cookie } });
  t.equal(JSON.parse(after.text).user, null, 'the cookie itself is worth nothing any more');
});

t.test('signing out nobody is no fault', async (t) => {
  const answer = await ask(`${edge}/.nnumbers/auth/logout`, { method: 'POST', headers: { origin: edge } });
  t.equal(answer.status, 303);
});

t.test('a wrong method is 405 and says which is right', async (t) => {
  const rows: [string, string, string][] = [
    ['/.nnumbers/auth/login', 'POST', 'GET'],
    ['/.nnumbers/auth/callback', 'POST', 'GET'],
    ['/.nnumbers/auth/logout', 'GET', 'POST'],
    ['/.nnumbers/auth/session', 'DELETE', 'GET'],
    ['/.nnumbers/v1/context', 'PUT', 'GET'],
    ['/.nnumbers/auth/session', 'OPTIONS', 'GET'],
  ];
  for (const [path, method, allow] of rows) {
    const answer = await ask(edge + path, { method, headers: { origin: edge, cookie: ana.cookie } });
    t.equal(answer.status, 405, `${method} ${path}`);
    t.equal(answer.headers.allow, allow);
    t.equal(answer.headers['cache-control'], 'no-store');
  }
  const still = await ask(`${edge}/.nnumbers/auth/session`, { headers: { cookie: ana.cookie } });
  t.equal(JSON.parse(still.text).user.name, 'Ana Souza', 'GET on logout signs nobody out');
});

t.test('what resolves under /.nnumbers/ never reaches the application', async (t) => {
  const before = app.seen.length;
  const unknown = [
    '/.nnumbers/',
    '/.nnumbers/other',
    '/.nnumbers/auth/login/',
    '/.nnumbers/auth//login',
    '/.nnumbers/auth/session/..',
    '/a/../.nnumbers/x',
    '/.nnumbers/.',
    '/.nnumbers/%2e',
    '/.nnumbers/%zz',
    '/.nnumbers/../.nnumbers/x',
    '/..\\.nnumbers\\x',
  ];
  for (const path of unknown) {
    const answer = await ask(edge, { path });
    t.equal(answer.status, 404, path);
    t.equal(answer.headers['cache-control'], 'no-store');
    t.equal(JSON.parse(answer.text).code, 'NOT_FOUND');
  }
  const sessions = [
    '/%2ennumbers/auth/session',
    '/.nnumbers%2fauth%2Fsession',
    '/./.nnumbers/auth/session',
    '/a/%2e%2e/.nnumbers/auth/session',
    '/.%6e%6E%75mbers/auth/session?x=/../..',
    '/.nnumbers/v1/../auth/./session',
    '/../../.nnumbers/auth/session',
    `http://127.0.0.1:${new URL(edge).port}/.nnumbers/auth/session`,
    // An application that parses its target comes to the same path, whatever the scheme says.
    `https://127.0.0.1:${new URL(edge).port}/.nnumbers/auth/session`,
    `ws://127.0.0.1:${new URL(edge).port}/.nnumbers/auth/session`,
  ];
  for (const path of sessions) t.equal((await ask(edge, { path })).status, 203, path);
  t.equal(app.seen.length, before);
});

t.test('every other target reaches the application byte for byte', async (t) => {
  const targets = [
    '/',
    '/a?',
    '/?',
    '/??a=b?',
    '//a',
    '//a//b///',
    '/a/../b',
    '/a/./b/..',
    '/%61%2F%2e%2e/b%zz',
    '/.nnumbers',
    '/.nnumbers/../a',
    '/.nnumbersx/auth/session',
    '/x/.nnumbers/auth/session',
    '/a?b=/.nnumbers/auth/session',
    "/a;b,c!$&'()*+@:~",
    '/a\\b',
    '/a?x=%00&y=%ff',
    '/a|b^c`{d}"<e>',
    '//.nnumbers.example/x',
  ];
  for (const path of targets) {
    const answer = await ask(edge, { path });
    t.equal(answer.status, 200, path);
    t.equal(app.last().url, path);
  }
});

t.test('an absolute target reaches the application as its path', async (t) => {
  const { port } = new URL(edge);
  t.equal((await ask(edge, { path: `http://localhost:${port}/a?b` })).text, 'app /a?b');
  t.equal((await ask(edge, { path: `HTTPS://localhost:${port}/a?b` })).text, 'app /a?b');
  t.equal((await ask(edge, { path: `http://evil.example:${port}/a?b` })).status, 400);
  t.equal((await ask(edge, { path: `https://evil.example:${port}/a?b` })).status, 400);
});

t.test('any other Host is refused, so that a rebound name reads nothing', async (t) => {
  const before = app.seen.length;
  const { port } = new URL(edge);
  for (const host of [
    'evil.example',
    `evil.example:${port}`,
    `127.0.0.1.evil.example:${port}`,
    `localhost.:${port}`,
    '127.0.0.1',
    'localhost',
    `127.0.0.1:${Number(port) + 1}`,
    `user@127.0.0.1:${port}`,
    `127.0.0.1:${port}:1`,
  ]) {
    for (const path of ['/', '/.nnumbers/auth/session', '/.nnumbers/auth/login']) {
      const answer = await ask(edge, { path, headers: { host, cookie: ana.cookie } });
      t.equal(answer.status, 400, `${host} ${path}`);
    }
  }
  t.equal(app.seen.length, before);
  for (const host of [`localhost:${port}`, `LOCALHOST:${port}`, `127.0.0.1:${port}`])
    t.equal((await ask(edge, { path: '/', headers: { host } })).status, 200, host);
});
