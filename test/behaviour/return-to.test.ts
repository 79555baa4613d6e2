import { anonymous, guardPerson } from '@nn-runtime/core';
import t from 'tap';
import { frameworks } from '../frameworks.js';
import { RawConnection } from '../raw-http.js';
import { environment, makeKey, NOW_MS, token } from '../tokens.js';

/** Where somebody is sent back to after sign-in: a path of the address itself, or its root (reference case 67; design I14). */

const LOGIN = '/.nnumbers/auth/login?return_to=';
const ROOT = '%2F';
const targets: readonly (readonly [target: string, returnTo: string])[] = [
  ['/', ROOT],
  ['/a', '%2Fa'],
  ['/a?u=https://x', '%2Fa%3Fu%3Dhttps%3A%2F%2Fx'],
  ['/a?b=c&d=%2F', '%2Fa%3Fb%3Dc%26d%3D%252F'],
  ['/a//b', '%2Fa%2F%2Fb'],
  ['/%C3%A9', '%2F%25C3%25A9'],
  ['/a?//e', '%2Fa%3F%2F%2Fe'],
  ['//e', ROOT],
  ['///e', ROOT],
  ['/\\e', ROOT],
  ['\\\\e', ROOT],
  ['/\\/e', ROOT],
  ['/%2fe', ROOT],
  ['/%2Fe', ROOT],
  ['/%5ce', ROOT],
  ['/%09/e', ROOT],
  ['/%0a/e', ROOT],
  ['/%0d%0aSet-Cookie:a=b', ROOT],
  ['/\t/e', ROOT],
  ['/%00', ROOT],
  ['/.//e', ROOT],
  ['/..//e', ROOT],
  ['/a/..//e', ROOT],
  ['/%2e//e', ROOT],
  ['https://e', ROOT],
  ['https:e', ROOT],
  ['javascript:alert(1)', ROOT],
  ['*', ROOT],
  ['', ROOT],
  [' /a', ROOT],
  ['a', ROOT],
  ['@e', ROOT],
  [`/${'a'.repeat(2_047)}`, `%2F${'a'.repeat(2_047)}`],
  [`/${'a'.repeat(2_048)}`, ROOT],
];

t.test('a navigation is sent to sign-in with a path of the address itself', async (t) => {
  for (const [target, returnTo] of targets) {
    const answer = guardPerson(anonymous, {
      method: 'GET',
      target,
      headers: { 'sec-fetch-mode': 'navigate' },
    });
    t.strictSame(
      answer,
      { statusCode: 302, headers: { location: LOGIN + returnTo, 'cache-control': 'no-store' } },
      JSON.stringify(target.slice(0, 40)),
    );
  }
});

for (const framework of frameworks) {
  t.test(framework.name, async (t) => {
    const key = makeKey('k1');
    const app = await framework.start({ env: environment([key]), now: () => NOW_MS });
    const connection = await RawConnection.open(app.port);
    t.teardown(async () => {
      connection.close();
      await app.close();
    });
    const NAVIGATE = 'Sec-Fetch-Mode: navigate';
    const away = await connection.request([NAVIGATE], '/private?u=https://x');
    t.strictSame([away.status, away.body], [302, '']);
    t.equal(away.headers.location, `${LOGIN}%2Fprivate%3Fu%3Dhttps%3A%2F%2Fx`);
    t.equal(away.headers['cache-control'], 'no-store');
    const script = await connection.request(['Sec-Fetch-Mode: cors', 'Accept: text/html'], '/private');
    t.equal(script.status, 401);
    t.strictSame(JSON.parse(script.body), {
      code: 'USER_SESSION_REQUIRED',
      message: 'Sign in to continue.',
      login_path: '/.nnumbers/auth/login',
    });
    t.equal(script.headers['cache-control'], 'no-store');
    const bad = await connection.request([NAVIGATE, 'X-NNumbers-Identity: junk'], '/private');
    t.equal(bad.status, 401, 'a bad identity is not sent round the sign-in');
    const ana = await connection.request([NAVIGATE, `X-NNumbers-Identity: ${token(key)}`], '/private');
    t.equal(JSON.parse(ana.body).subject, 'ana-0001');
  });
}
