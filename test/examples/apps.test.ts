// Each example as its own process, asked over HTTP, tested as its owner would: with the kit for tests.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Agent } from 'node:http';
import { connect } from 'node:net';
import { fileURLToPath } from 'node:url';
import { createTestBroker, testPeople } from '@nn-runtime/dev/testing';
import t from 'tap';
import { ask } from '../http.js';
import { RawConnection } from '../raw-http.js';

const broker = await createTestBroker();
t.teardown(() => broker.close());

const person = (changes: Record<string, unknown> = {}) => broker.identities.headers(testPeople.ana, changes);

async function start(app: string): Promise<{ url: string; child: ChildProcess }> {
  const script = fileURLToPath(new URL(`../../examples/${app}/dist/server.js`, import.meta.url));
  const child = spawn(process.execPath, [script], {
    env: { ...broker.env, PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = await once(child.stdout, 'data');
  const [, url] = /listens on (http:\/\/127\.0\.0\.1:\d+)\n$/.exec(String(line)) ?? [];
  if (url === undefined) throw new Error(`no address in ${line}`);
  return { url, child };
}

/** Whether somebody still takes connections there. */
const keepsListening = (url: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy()).once('close', () => resolve(true));
  });

for (const [app, framework] of [
  ['fastify-app', 'Fastify'],
  ['express-app', 'Express'],
] as const) {
  t.test(`the ${framework} example`, async (t) => {
    const { url, child } = await start(app);
    t.teardown(() => child.kill('SIGKILL'));
    const get = (path: string, headers: Record<string, string> = {}) => ask(url + path, { headers });

    t.test('/api/me is the identity', async (t) => {
      const anonymous = await get('/api/me');
      t.equal(anonymous.text, '{"kind":"anonymous"}');
      const ana = await get('/api/me', person());
      t.match(ana.json(), {
        kind: 'person',
        subject: '5b1c7a0e-ana',
        name: 'Ana Souza',
        email: 'ana@example.org',
      });
      const wrong = await get('/api/me', { 'x-nnumbers-identity': 'x.y.z' });
      t.equal(wrong.status, 401);
      t.match(wrong.json(), { code: 'IDENTITY_ASSERTION_INVALID' });
    });

    t.test('/api/nations is the answer of QueryMesh on behalf of the person', async (t) => {
      const before = broker.queries.length;
      const anonymous = await get('/api/nations');
      t.equal(anonymous.status, 401);
      t.match(anonymous.json(), { code: 'USER_SESSION_REQUIRED' });
      t.equal(broker.queries.length, before, 'the broker was not asked');

      broker.answer({
        columns: [
          { name: 'name', type: 'varchar' },
          { name: 'regionkey', type: 'bigint' },
        ],
        rows: [['BRAZIL', 1]],
      });
      const ana = await get('/api/nations', person());
      t.same(ana.json(), {
        columns: [
          { name: 'name', type: 'varchar' },
          { name: 'regionkey', type: 'bigint' },
        ],
        rows: [['BRAZIL', 1]],
      });
      t.match(broker.queries.at(-1), {
        sql: 'SELECT name, regionkey FROM tpch.tiny.nation',
        person: { sub: '5b1c7a0e-ana' },
      });
    });

    t.test('/api/query sends the given SQL, and its refusals keep their status', async (t) => {
      await get(`/api/query?sql=${encodeURIComponent("SELECT 'a & b'")}`, person());
      t.equal(broker.queries.at(-1)?.sql, "SELECT 'a & b'");
      for (const query of ['', '?sql=', '?sql=a&sql=b']) {
        const refused = await get(`/api/query${query}`, person());
        t.equal(refused.status, 400, query);
        t.match(refused.json(), { code: 'VALIDATION_FAILED' });
      }
      t.equal((await get('/api/query?sql=SELECT+1')).status, 401);
      broker.refuse('QUERYMESH_ACCESS_DENIED', { sql: 'SELECT 1' });
      const denied = await get('/api/query?sql=SELECT+1', person());
      t.equal(denied.status, 403);
      t.match(denied.json(), { code: 'QUERYMESH_ACCESS_DENIED' });
    });

    t.test('/api/private is for people only', async (t) => {
      const refused = await get('/api/private');
      t.equal(refused.status, 401);
      t.match(refused.json(), { code: 'USER_SESSION_REQUIRED' });
      const redirected = await get('/api/private', { 'sec-fetch-mode': 'navigate' });
      t.equal(redirected.status, 302);
      t.equal(redirected.headers.location, '/.nnumbers/auth/login?return_to=%2Fapi%2Fprivate');
      t.same((await get('/api/private', person())).json(), { message: 'For Ana Souza only.' });
    });

    t.test('/ says who is signed in, before its script runs', async (t) => {
      const anonymous = await get('/');
      t.equal(anonymous.headers['content-type'], 'text/html; charset=utf-8');
      t.equal(anonymous.headers['cache-control'], 'no-store');
      t.match(anonymous.text, '<html lang="en" data-session="anonymous">');
      t.match(anonymous.text, `${framework} example`);
      t.match(anonymous.text, 'href="/.nnumbers/auth/login?return_to=/">Sign in</a>');

      const page = (await get('/', person())).text;
      t.match(page, '<html lang="en" data-session="person">');
      t.match(page, '<strong id="who">Ana Souza</strong>');
      t.match(
        page,
        /<form class="for-person" id="sign-out" method="post" action="\/\.nnumbers\/auth\/logout"><button type="submit">Sign out/,
      );

      const marked = (await get('/', person({ name: `<img src=x onerror="a('&')">` }))).text;
      t.match(
        marked,
        '<strong id="who">&#60;img src=x onerror=&#34;a(&#39;&#38;&#39;)&#34;&#62;</strong>',
        'a name is text',
      );
      const unnamed = (await get('/', person({ name: null, email: null, preferred_username: null }))).text;
      t.match(unnamed, '<strong id="who">5b1c7a0e-ana</strong>');
    });

    t.test('/ runs and loads what is its own, and nothing else', async (t) => {
      const { headers, text } = await get('/');
      t.equal(
        headers['content-security-policy'],
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
          "form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; " +
          "trusted-types 'none'",
      );
      t.equal(headers['referrer-policy'], 'same-origin');
      t.equal(headers['x-content-type-options'], 'nosniff');
      t.notMatch(text, /<script(?! type="module" src="\/)|<style| style=| on\w+=|https?:/, 'nothing inline');
      const files = [...text.matchAll(/(?:src|href)="(\/(?:assets\/|icon)[^"]*)"/g)].map(
        ([, path]) => path ?? '',
      );
      t.equal(files.length, 3);
      for (const path of files) {
        const file = await get(path);
        t.equal(file.status, 200, path);
        t.match(
          file.headers['content-type'],
          /^(?:text\/(?:javascript|css)|image\/svg\+xml); charset=utf-8$/,
        );
        t.equal(file.headers['x-content-type-options'], 'nosniff');
        t.match(file.headers['cache-control'], /^public, max-age=\d+/);
        t.notMatch(file.text, /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(/);
      }
      t.equal((await get('/assets/page.js')).status, 404);
    });

    t.test(
      'asked to end, it answers what is in flight and ends within 5 s, however long clients would stay',
      async (t) => {
        const agent = new Agent({ keepAlive: true });
        t.teardown(() => agent.destroy());
        const keep = (path: string) => ask(url + path, { headers: person(), agent });
        const begun = await RawConnection.open(Number(new URL(url).port));
        t.teardown(() => begun.close());
        begun.write('GET /api/me HTTP/1.1\r\nHost: 127.0.0.1\r\n');
        const held = broker.hold();
        const inFlight = keep('/api/nations');
        await held.arrived;
        await keep('/api/me');
        const exit = once(child, 'exit');
        const askedMs = performance.now();
        child.kill('SIGTERM');
        // It listens no longer once it has begun to end.
        for (let listening = true; listening; ) listening = await keepsListening(url);
        begun.write('\r\n');
        const last = await begun.answer();
        t.equal(last.body, '{"kind":"anonymous"}', 'a request that had begun is answered');
        t.equal(last.headers.connection, 'close');
        held.answer({ columns: [{ name: 'name', type: 'varchar' }], rows: [['PERU']] });
        const answer = await inFlight;
        t.equal(answer.status, 200);
        t.same(answer.json(), { columns: [{ name: 'name', type: 'varchar' }], rows: [['PERU']] });
        t.same(await exit, [0, null]);
        t.ok(performance.now() - askedMs < 5_000, 'the connections it kept open ended with it');
      },
    );
  });
}

t.test('each example is at most 60 lines, the routes of its page apart', async (t) => {
  for (const app of ['fastify-app', 'express-app']) {
    const lines = ['app.ts', 'server.ts'].flatMap((file) =>
      readFileSync(new URL(`../../examples/${app}/src/${file}`, import.meta.url), 'utf8')
        .trimEnd()
        .split('\n'),
    );
    t.ok(lines.length <= 60, `${app} has ${lines.length}`);
  }
});
