import { startPlatform } from '@nn-runtime/dev';
import t from 'tap';
import { application } from './fixtures/application.js';
import { browser } from './fixtures/browser.js';

const app = await application(t);
const platform = await startPlatform({ apps: [{ id: 'shop', url: app.url }, { id: 'desk' }] });
t.teardown(() => platform.close());
const edge = platform.apps.shop.url;
const { port } = new URL(edge);
const login = `${edge}/.nnumbers/auth/login`;

type Browser = ReturnType<typeof browser>;

async function userOf(person: Browser, base = edge): Promise<Record<string, unknown> | null> {
  const answer = await person.visit(`${base}/.nnumbers/auth/session`);
  return JSON.parse(answer.text).user;
}

async function signOut(person: Browser): Promise<void> {
  const answer = await person.visit(`${edge}/.nnumbers/auth/logout`, {
    method: 'POST',
    headers: { origin: edge },
  });
  t.equal(answer.status, 303);
}

t.test('a person picks who they are on the page of people', async (t) => {
  const person = browser();
  const { urls, answer } = await person.follow(`${login}?return_to=/orders?open=1`);
  t.equal(answer.status, 200);
  t.match(answer.headers['content-type'], /^text\/html/);
  t.equal(answer.headers['cache-control'], 'no-store');
  t.match(answer.headers['content-security-policy'], /frame-ancestors 'none'/);
  t.match(answer.text, /<html lang="en">/);
  t.match(answer.text, /<h1>Sign in<\/h1>/);
  t.match(answer.text, /<legend>Continue to <strong>shop<\/strong> as<\/legend>/);
  t.match(answer.text, /Ana Souza <span>ana@example\.org<\/span><\/button>/);
  t.equal(answer.text.match(/<button type="submit"/g)?.length, 3);
  t.equal(/<script|\son\w+=/.test(answer.text), false, 'it needs no script');

  const action = /action="([^"]+)"/.exec(answer.text)?.[1] ?? '';
  const [, bruno = ''] = /value="([^"]+)">Bruno Lima/.exec(answer.text) ?? [];
  const page = urls.at(-1) ?? '';
  t.equal(new URL(page).pathname, action);
  const done = await person.follow(new URL(action, page).href, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ sub: bruno }).toString(),
  });
  t.equal(done.urls.at(-1), `${edge}/orders?open=1`);
  t.equal(done.answer.text, 'app /orders?open=1');
  t.match(await userOf(person), { name: 'Bruno Lima', email: 'bruno@example.org' });
});

t.test('nobody can be made up on the page', async (t) => {
  const person = browser();
  const { urls } = await person.follow(login);
  const answer = await person.visit(urls.at(-1) ?? '', {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: 'sub=root',
  });
  t.equal(answer.status, 400);
  t.equal(await userOf(person), null);
});

t.test('a sign-in page opened in another browser does not go on', async (t) => {
  const { urls } = await browser().follow(login);
  const answer = await browser().visit(urls.at(-1) ?? '');
  t.equal(answer.status, 400);
  t.match(answer.text, /start again/);
});

t.test('a login_hint signs straight in as that person', async (t) => {
  for (const [hint, name] of [
    ['ana@example.org', 'Ana Souza'],
    ['ANA@example.org', 'Ana Souza'],
    ['bruno', 'Bruno Lima'],
  ]) {
    const person = browser();
    const { answer } = await person.follow(`${login}?login_hint=${hint}&return_to=/me`);
    t.equal(answer.text, 'app /me');
    t.equal((await userOf(person))?.name, name);
  }
});

t.test('a person without name, email and user name has none in session and identity', async (t) => {
  const person = browser();
  await person.follow(`${login}?login_hint=e27c91d3-nameless`);
  t.same(await userOf(person), { sub: 'e27c91d3-nameless' });
  const { identity } = await platform.signIn('e27c91d3-nameless');
  const claims = JSON.parse(Buffer.from(identity.split('.')[1] ?? '', 'base64url').toString());
  t.same(Object.keys(claims).sort(), [
    'aud',
    'exp',
    'iam',
    'iat',
    'iss',
    'jti',
    'nbf',
    'org',
    'org_slug',
    'sid',
    'sub',
  ]);
});

t.test('an unknown login_hint shows the page, and says so without trusting it', async (t) => {
  const { answer } = await browser().follow(`${login}?login_hint=${encodeURIComponent('<b>x</b>@y')}`);
  t.equal(answer.status, 200);
  t.match(answer.text, /Nobody here is known as “&lt;b&gt;x&lt;\/b&gt;@y”/);
});

t.test('signing in again asks nobody, here and at another application', async (t) => {
  const person = browser();
  await person.follow(`${login}?login_hint=ana@example.org`);
  await signOut(person);
  t.equal(await userOf(person), null, 'signed out of the application');
  const again = await person.follow(`${login}?return_to=/again`);
  t.equal(again.answer.text, 'app /again');
  t.equal(
    again.urls.some((url) => url.includes('/interaction/')),
    false,
    'no page in between',
  );
  t.equal((await userOf(person))?.name, 'Ana Souza');

  const desk = platform.apps.desk.url;
  t.equal(await userOf(person, desk), null, 'an application session is of one application');
  const other = await person.follow(`${desk}/.nnumbers/auth/login?return_to=/.nnumbers/auth/session`);
  t.equal(JSON.parse(other.answer.text).user.name, 'Ana Souza');
  t.equal(
    other.urls.some((url) => url.includes('/interaction/')),
    false,
  );
  await signOut(person);
  t.equal((await userOf(person, desk))?.name, 'Ana Souza', 'signing out is of one application');
});

t.test('a login_hint for somebody else replaces who was signed in', async (t) => {
  const person = browser();
  await person.follow(`${login}?login_hint=ana@example.org`);
  await person.follow(`${login}?login_hint=bruno@example.org`);
  t.equal((await userOf(person))?.name, 'Bruno Lima');
  await signOut(person);
  await person.follow(login);
  t.equal((await userOf(person))?.name, 'Bruno Lima', 'and it is Bruno who stays signed on');
  const same = await person.follow(`${login}?login_hint=bruno@example.org`);
  t.equal(
    same.urls.some((url) => url.includes('/interaction/')),
    false,
    'the same person is not asked',
  );
});

t.test('a callback works once, and only in the browser that started', async (t) => {
  const person = browser();
  let url = `${login}?login_hint=ana@example.org`;
  while (!url.includes('/callback?')) {
    const answer = await person.visit(url);
    url = new URL(answer.headers.location ?? '', url).href;
  }
  t.equal((await browser().visit(url)).status, 400, 'another browser');
  t.equal((await person.visit(`${url}x`)).status, 400, 'another answer of the IAM');
  const retry = browser();
  let second = `${login}?login_hint=ana@example.org`;
  while (!second.includes('/callback?')) {
    const answer = await retry.visit(second);
    second = new URL(answer.headers.location ?? '', second).href;
  }
  t.equal((await retry.visit(second)).status, 302);
  t.equal((await retry.visit(second)).status, 400, 'the same again');
});

t.test('a second answer to one attempt is refused, though its code is fresh', async (t) => {
  const person = browser();
  await person.follow(`${login}?login_hint=ana@example.org`);
  const start = await person.visit(login);
  const authorization = start.headers.location ?? '';
  const first = (await person.visit(authorization)).headers.location ?? '';
  const second = (await person.visit(authorization)).headers.location ?? '';
  t.not(first, second);
  const cookie = person.cookieHeader(second);
  t.equal((await person.visit(first)).status, 302);
  t.equal((await person.visit(second, { headers: { cookie } })).status, 400);
});

t.test('a session of one application is nobody at another', async (t) => {
  const { cookie } = await platform.signIn('ana@example.org', 'desk');
  const value = cookie.split('=')[1];
  const answer = await browser().visit(`${edge}/.nnumbers/auth/session`, {
    headers: { cookie: `__nnumbers_session_${port}=${value}` },
  });
  t.equal(JSON.parse(answer.text).user, null);
});

t.test('the IAM answers to its own address alone', async (t) => {
  for (const path of ['/.well-known/openid-configuration', '/interaction/x']) {
    const answer = await browser().visit(platform.iamUrl + path, { headers: { host: 'evil.example' } });
    t.equal(answer.status, 400);
    t.match(answer.text, /Host/);
  }
});

t.test('two tabs can sign in at the same time', async (t) => {
  const person = browser();
  const first = await person.visit(`${login}?login_hint=ana@example.org&return_to=/one`);
  const second = await person.visit(`${login}?login_hint=ana@example.org&return_to=/two`);
  t.equal((await person.follow(second.headers.location ?? '')).answer.text, 'app /two');
  t.equal((await person.follow(first.headers.location ?? '')).answer.text, 'app /one');
});

t.test('a session cookie planted before sign-in is worth nothing', async (t) => {
  const attacker = browser();
  await attacker.follow(`${login}?login_hint=bruno@example.org`);
  const planted = attacker.cookieHeader(edge);
  const victim = browser();
  const start = await victim.visit(`${login}?login_hint=ana@example.org`);
  let url = start.headers.location ?? '';
  while (!url.includes('/callback?')) {
    const answer = await victim.visit(url);
    url = new URL(answer.headers.location ?? '', url).href;
  }
  const cookie = `${planted}; ${victim.cookieHeader(url)}`;
  t.equal((await victim.visit(url, { headers: { cookie } })).status, 302);
  t.equal((await userOf(victim))?.name, 'Ana Souza');
  t.equal(await userOf(attacker), null, 'the planted session ended');
});

t.test('localhost and 127.0.0.1 both work from sign-in to sign-out', async (t) => {
  const local = `http://localhost:${port}`;
  const person = browser();
  const { urls, answer } = await person.follow(
    `${local}/.nnumbers/auth/login?login_hint=ana@example.org&return_to=/here`,
  );
  t.equal(answer.text, 'app /here');
  t.equal(urls.at(-1), `${local}/here`, 'back at the name it started from');
  t.equal((await userOf(person, local))?.name, 'Ana Souza');
  t.equal(await userOf(person, edge), null, 'cookies are of one host name');
  const wrong = await person.visit(`${local}/.nnumbers/auth/logout`, {
    method: 'POST',
    headers: { origin: edge },
  });
  t.equal(wrong.status, 403);
  const out = await person.visit(`${local}/.nnumbers/auth/logout`, {
    method: 'POST',
    headers: { origin: local },
  });
  t.equal(out.status, 303);
  t.equal(await userOf(person, local), null);
});

t.test('cookies are HttpOnly and Lax, share a prefix and carry the port', async (t) => {
  const person = browser();
  const iamPort = new URL(platform.iamUrl).port;
  let url = `${login}?login_hint=ana@example.org`;
  for (let step = 0; step < 6 && url !== ''; step += 1) {
    const answer = await person.visit(url);
    for (const line of answer.setCookies) {
      const owner = new URL(url).port === iamPort ? iamPort : port;
      t.match(line, new RegExp(`^__nnumbers_[a-z]+_${owner}(_|=)`));
      t.match(line, /; HttpOnly/i);
      t.match(line, /; SameSite=Lax/i);
      t.equal(/; Domain=/i.test(line), false);
    }
    url = answer.headers.location === undefined ? '' : new URL(answer.headers.location, url).href;
  }
});

t.test('signIn gives a cookie and an identity for the person and application asked for', async (t) => {
  const { cookie, identity } = await platform.signIn('bruno@example.org', 'desk');
  const claims = JSON.parse(Buffer.from(identity.split('.')[1] ?? '', 'base64url').toString());
  t.equal(claims.aud, 'desk');
  t.equal(claims.email, 'bruno@example.org');
  const answer = await browser().visit(`${platform.apps.desk.url}/.nnumbers/auth/session`, {
    headers: { cookie },
  });
  t.equal(JSON.parse(answer.text).user.name, 'Bruno Lima');
  await t.rejects(platform.signIn('nobody@example.org'), RangeError);
  // @ts-expect-error: the ids are part of the platform's type
  await t.rejects(platform.signIn('ana@example.org', 'elsewhere'), RangeError);
});
