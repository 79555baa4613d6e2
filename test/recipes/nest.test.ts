import type { Runtime } from '@nn-runtime/core';
import { createNestOnExpress, createNestOnFastify, RUNTIME } from '@nn-runtime-examples/recipes/nest';
import t from 'tap';
import { answerJson, startScriptedBroker } from '../broker.js';
import { ask } from '../http.js';
import { environment, makeKey, NOW_MS, token } from '../tokens.js';

const key = makeKey('k1');

for (const [name, create] of [
  ['Nest on Express', createNestOnExpress],
  ['Nest on Fastify', createNestOnFastify],
] as const) {
  t.test(name, async (t) => {
    const broker = await startScriptedBroker();
    t.teardown(() => broker.close());
    const app = await create({ env: environment([key], broker.url), now: () => NOW_MS });
    await app.listen(0, '127.0.0.1');
    const url = await app.getUrl();
    const ana = { 'x-nnumbers-identity': token(key) };

    t.test('a request without an identity is anonymous', async (t) => {
      t.match((await ask(`${url}/me`)).json(), { kind: 'anonymous' });
    });

    t.test('a request with one is a person', async (t) => {
      const answer = await ask(`${url}/me`, { headers: ana });
      t.match(answer.json(), { kind: 'person', subject: 'ana-0001' });
    });

    t.test('an identity that does not check out is 401, whatever the route', async (t) => {
      for (const path of ['/me', '/nations', '/nothing']) {
        const answer = await ask(`${url}${path}`, { headers: { 'x-nnumbers-identity': 'x' } });
        t.equal(answer.status, 401);
        t.match(answer.json(), { code: 'IDENTITY_ASSERTION_INVALID' });
      }
    });

    t.test('the guard wants a person, and the filter says so in the platform’s words', async (t) => {
      const answer = await ask(`${url}/nations`);
      t.equal(answer.status, 401);
      t.match(answer.json(), { code: 'USER_SESSION_REQUIRED', login_path: '/.nnumbers/auth/login' });
      t.match(answer.headers, {
        'cache-control': 'no-store',
        'content-type': 'application/json; charset=utf-8',
      });
    });

    t.test('a query runs on behalf of that person', async (t) => {
      const answer = await ask(`${url}/nations`, { headers: ana });
      t.match(answer.json(), { rows: [['BRAZIL', 1]] });
      t.equal(broker.requests.at(-1)?.headers['x-nnumbers-identity'], ana['x-nnumbers-identity']);
    });

    t.test('a refusal of the platform keeps its status and its words', async (t) => {
      broker.onQuery(
        answerJson(503, { code: 'QUERYMESH_UNAVAILABLE', message: 'busy' }, { 'retry-after': '7' }),
      );
      const answer = await ask(`${url}/nations`, { headers: ana });
      t.equal(answer.status, 503);
      t.match(answer.json(), { code: 'QUERYMESH_UNAVAILABLE' });
      t.equal(answer.headers['retry-after'], '7');
    });

    t.test('the end of the application is the end of its runtime', async (t) => {
      const runtime = app.get<Runtime>(RUNTIME);
      await app.close();
      await t.rejects(runtime.authenticate(undefined), { code: 'APPLICATION_IDENTITY_NOT_READY' });
    });
  });
}
