// Each example as its own process, asked over HTTP, tested as its owner would: with the kit for tests.
import { readFileSync } from 'node:fs';
import { createTestBroker, testPeople } from '@nn-runtime/dev/testing';
import t from 'tap';
import { ask } from '../http.js';
import { examples, start } from './application.js';

const broker = await createTestBroker();
t.teardown(() => broker.close());

const person = (changes: Record<string, unknown> = {}) => broker.identities.headers(testPeople.ana, changes);

for (const { app, framework } of examples) {
  t.test(`the ${framework} example`, async (t) => {
    const { url, child } = await start(app, broker.env);
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
  });
}

t.test('each example is at most 60 lines, the routes of its page apart', async (t) => {
  for (const { app } of examples) {
    const lines = ['app.ts', 'server.ts'].flatMap((file) =>
      readFileSync(new URL(`../../examples/${app}/src/${file}`, import.meta.url), 'utf8')
        .trimEnd()
        .split('\n'),
    );
    t.ok(lines.length <= 60, `${app} has ${lines.length}`);
  }
});
