import { startPlatform } from '@nn-runtime/dev';
import t from 'tap';
import { application } from './fixtures/application.js';
import { type Browser, browser } from './fixtures/browser.js';

/** One sign-in attempt is one browser's, once, for a while; one session is one person's until it ends. */

let now = Date.now();
const app = await application(t, (request, response) =>
  response.end(typeof request.headers['x-nnumbers-identity']),
);
const platform = await startPlatform({ apps: [{ id: 'shop', url: app.url }], now: () => now });
t.teardown(() => platform.close());
const edge = platform.apps.shop.url;
const { port } = new URL(edge);
const sessionCookie = `__nnumbers_session_${port}`;
const login = (email: string, base = edge) => `${base}/.nnumbers/auth/login?login_hint=${email}`;

async function userOf(person: Browser, base = edge): Promise<{ name: string } | null> {
  return JSON.parse((await person.visit(`${base}/.nnumbers/auth/session`)).text).user;
}

/** Goes as far as the address of the callback, and not there. */
async function toCallback(person: Browser, url: string): Promise<string> {
  let next = url;
  while (!next.includes('/callback?')) {
    const { headers } = await person.visit(next);
    next = new URL(headers.location ?? '', next).href;
  }
  return next;
}

t.test('each attempt has a state, a nonce, a challenge and a secret of its own', async (t) => {
  const person = browser();
  const values = new Set<string>();
  for (let attempt = 0; attempt < 3; attempt += 1) {
    const { headers, setCookies } = await person.visit(login('ana@example.org'));
    const query = new URL(headers.location ?? '').searchParams;
    for (const name of ['state', 'nonce', 'code_challenge']) values.add(query.get(name) ?? '');
    t.equal(setCookies.length, 1);
    const [, name = '', secret = ''] = /^([^=]+)=([\w-]{43}); Path=\/\.nnumbers\/auth\/callback; /.exec(
      setCookies[0] ?? '',
    ) ?? ['', '', ''];
    values.add(name).add(secret);
    t.notMatch(query.toString(), secret, 'the secret is the browser’s alone');
  }
  t.equal(values.size, 15);
  t.notOk(values.has(''));
});

t.test('the code of one attempt is worth nothing in another, of the same browser', async (t) => {
  const person = browser();
  const first = new URL(await toCallback(person, login('ana@example.org')));
  const second = new URL(await toCallback(person, login('bruno@example.org')));
  second.searchParams.set('code', first.searchParams.get('code') ?? '');
  t.equal((await person.visit(second.href)).status, 400);
  t.equal(await userOf(person), null);
});

t.test('a stranger’s callback does not sign the victim in as the stranger', async (t) => {
  const stranger = await toCallback(browser(), login('bruno@example.org'));
  const victim = browser();
  await victim.follow(login('ana@example.org'));
  t.equal((await victim.visit(stranger)).status, 400);
  t.equal((await userOf(victim))?.name, 'Ana Souza', 'and the victim’s own session goes on');
});

t.test('a callback is of the name the sign-in started at', async (t) => {
  const person = browser();
  const callback = await toCallback(person, login('ana@example.org'));
  const elsewhere = callback.replace('127.0.0.1', 'localhost');
  const cookie = person.cookieHeader(callback);
  t.equal((await person.visit(elsewhere)).status, 400, 'the cookie is of the other name');
  t.equal((await person.visit(elsewhere, { headers: { cookie } })).status, 400, 'and so is the code');
  t.equal(await userOf(person, `http://localhost:${port}`), null);
});

t.test('a refusal of the IAM is a refused sign-in', async (t) => {
  const person = browser();
  const callback = new URL(await toCallback(person, login('ana@example.org')));
  callback.searchParams.delete('code');
  callback.searchParams.set('error', 'access_denied');
  const answer = await person.visit(callback.href);
  t.equal(answer.status, 400);
  t.match(JSON.parse(answer.text), { code: 'VALIDATION_FAILED' });
  t.equal(await userOf(person), null);
});

t.test('an attempt is over after ten minutes', async (t) => {
  t.teardown(() => {
    now = Date.now();
  });
  const person = browser();
  const callback = await toCallback(person, login('ana@example.org'));
  const cookie = person.cookieHeader(callback);
  now += 600_000;
  t.equal((await person.visit(callback, { headers: { cookie } })).status, 400);
  t.equal(await userOf(person), null);
});

t.test('a cookie made up before sign-in is not the one the sign-in gives', async (t) => {
  const person = browser();
  const callback = await toCallback(person, login('ana@example.org'));
  const planted = 'A'.repeat(43);
  const cookie = `${sessionCookie}=${planted}; ${person.cookieHeader(callback)}`;
  const { status, setCookies } = await person.visit(callback, { headers: { cookie } });
  t.equal(status, 302);
  const given = setCookies.find((line) => line.startsWith(sessionCookie)) ?? '';
  t.match(given, /^[^=]+=[\w-]{43};/);
  t.notMatch(given, planted);
  const withPlanted = await browser().visit(`${edge}/.nnumbers/auth/session`, {
    headers: { cookie: `${sessionCookie}=${planted}` },
  });
  t.equal(JSON.parse(withPlanted.text).user, null);
});

t.test('signing out ends the session for every copy of its cookie', async (t) => {
  const person = browser();
  await person.follow(login('ana@example.org'));
  const copy = person.cookieHeader(edge);
  t.equal((await browser().visit(edge, { headers: { cookie: copy } })).text, 'string');
  await person.visit(`${edge}/.nnumbers/auth/logout`, { method: 'POST', headers: { origin: edge } });
  t.equal((await browser().visit(edge, { headers: { cookie: copy } })).text, 'undefined', 'no identity');
  const { urls } = await person.follow(`${edge}/.nnumbers/auth/login`);
  t.notOk(urls.some((url) => url.includes('/interaction/')));
  t.equal((await userOf(person))?.name, 'Ana Souza', 'signed in again without being asked');
});

t.test('a session the platform ends is over at once, and signing in again asks nobody', async (t) => {
  const ana = browser();
  const bruno = browser();
  await ana.follow(login('ana@example.org'));
  await bruno.follow(login('bruno@example.org'));
  t.ok(platform.faults.endSession('ana@example.org') >= 1);
  t.equal((await ana.visit(edge)).text, 'undefined', 'anonymous to the application');
  t.equal(await userOf(ana), null);
  t.equal((await bruno.visit(edge)).text, 'string', 'nobody else’s');
  const { urls } = await ana.follow(`${edge}/.nnumbers/auth/login`);
  t.notOk(urls.some((url) => url.includes('/interaction/')));
  t.equal((await userOf(ana))?.name, 'Ana Souza');
});

t.test('a session is over after twelve hours', async (t) => {
  t.teardown(() => {
    now = Date.now();
  });
  const person = browser();
  await person.follow(login('ana@example.org'));
  now += 12 * 3_600_000 - 60_000;
  t.equal((await person.visit(edge)).text, 'string');
  now += 60_000;
  t.equal((await person.visit(edge)).text, 'undefined');
});

t.test('two tabs that sign in as two people: whom the IAM heard of last', async (t) => {
  const person = browser();
  const first = await toCallback(person, login('ana@example.org'));
  const second = await toCallback(person, login('bruno@example.org'));
  await person.visit(second);
  // Bruno replaced Ana at the IAM: what she was given there is worth nothing any more.
  t.equal((await person.visit(first)).status, 400);
  t.equal((await userOf(person))?.name, 'Bruno Lima');
});

t.test('two tabs that sign in as one person end with one session', async (t) => {
  const person = browser();
  const first = await toCallback(person, login('ana@example.org'));
  const second = await toCallback(person, login('ana@example.org'));
  t.equal((await person.visit(second)).status, 302);
  const replaced = person.cookieHeader(edge);
  t.equal((await person.visit(first)).status, 302);
  t.equal((await userOf(person))?.name, 'Ana Souza');
  const left = await browser().visit(edge, { headers: { cookie: replaced } });
  t.equal(left.text, 'undefined', 'the other one is over');
});
