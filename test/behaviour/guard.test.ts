import t from 'tap';
import { frameworks } from '../frameworks.js';
import { ask as request } from '../http.js';
import { environment, makeKey, NOW_MS, token } from '../tokens.js';

const key = makeKey('k1');
const PAGE = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

for (const framework of frameworks) {
  t.test(framework.name, async (t) => {
    const app = await framework.start({ env: environment([key]), now: () => NOW_MS });
    t.teardown(() => app.close());
    const ask = (path: string, headers: Record<string, string>, method = 'GET') =>
      request(app.url + path, { method, headers });

    t.test('a person passes a guarded route', async (t) => {
      const response = await ask('/private', { 'x-nnumbers-identity': token(key), accept: PAGE });
      t.equal(response.status, 200);
      t.match(response.json(), { kind: 'person', subject: 'ana-0001' });
    });

    t.test('an anonymous page navigation goes to sign-in and comes back', async (t) => {
      for (const method of ['GET', 'HEAD']) {
        const response = await ask('/private?tab=2&q=a%20b', { 'sec-fetch-mode': 'navigate' }, method);
        t.equal(response.status, 302);
        t.equal(
          response.headers.location,
          '/.nnumbers/auth/login?return_to=%2Fprivate%3Ftab%3D2%26q%3Da%2520b',
        );
        t.equal(response.headers['cache-control'], 'no-store');
      }
    });

    t.test('without Sec-Fetch-Mode, an Accept that prefers HTML is a navigation', async (t) => {
      for (const accept of [
        PAGE,
        'text/html',
        'application/json;q=0.5, text/html',
        'application/xhtml+xml',
      ]) {
        t.equal((await ask('/private', { accept })).status, 302, accept);
      }
    });

    t.test('anything else anonymous is 401 and told where sign-in is', async (t) => {
      const requests: [Record<string, string>, string][] = [
        [{}, 'GET'],
        [{ accept: '*/*' }, 'GET'],
        [{ accept: 'application/json' }, 'GET'],
        [{ accept: 'application/json, text/html' }, 'GET'],
        [{ accept: 'text/html;q=0.5, application/json' }, 'GET'],
        [{ accept: 'text/html;q=0' }, 'GET'],
        // A script in a page: its Accept may prefer HTML, its mode says what it is.
        [{ accept: PAGE, 'sec-fetch-mode': 'cors' }, 'GET'],
      ];
      for (const [headers, method] of requests) {
        const response = await ask('/private', headers, method);
        t.equal(response.status, 401, JSON.stringify(headers));
        t.strictSame(response.json(), {
          code: 'USER_SESSION_REQUIRED',
          message: 'Sign in to continue.',
          login_path: '/.nnumbers/auth/login',
        });
        t.equal(response.headers['cache-control'], 'no-store');
      }
    });

    t.test('a bad identity is refused before the guard is asked', async (t) => {
      const response = await ask('/private', { 'x-nnumbers-identity': 'x.y.z', accept: PAGE });
      t.equal(response.status, 401);
      t.match(response.json(), { code: 'IDENTITY_ASSERTION_INVALID' });
    });
  });
}
