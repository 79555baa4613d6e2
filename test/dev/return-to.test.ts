import { startPlatform } from '@nn-runtime/dev';
import t from 'tap';
import { application } from './fixtures/application.js';
import { browser } from './fixtures/browser.js';
import { ask } from './fixtures/http.js';

const app = await application(t);
const platform = await startPlatform({ apps: [{ id: 'shop', url: app.url }] });
t.teardown(() => platform.close());
const edge = platform.apps.shop.url;

const login = (query: string) => `${edge}/.nnumbers/auth/login?login_hint=ana@example.org&${query}`;

/** Where a whole sign-in ends: the Location of the callback's answer. */
async function landing(query: string): Promise<string | undefined> {
  const person = browser();
  let url = login(query);
  for (let step = 0; step < 10; step += 1) {
    const answer = await person.visit(url);
    const location = answer.headers.location;
    if (new URL(url).pathname === '/.nnumbers/auth/callback') {
      t.equal(answer.status, 302);
      t.equal(answer.headers['cache-control'], 'no-store');
      return location;
    }
    if (location === undefined) return undefined;
    url = new URL(location, url).href;
  }
  return undefined;
}

t.test('return_to leads back to a path of the address itself', async (t) => {
  const cases: [string, string][] = [
    ['', '/'],
    ['return_to=', '/'],
    ['return_to=/', '/'],
    ['return_to=/orders', '/orders'],
    ['return_to=/a%3Fb%3D1%26c%3D2%23d', '/a?b=1&c=2#d'],
    ['return_to=/%C3%A9t%C3%A9/%E6%9D%B1%E4%BA%AC', '/%C3%A9t%C3%A9/%E6%9D%B1%E4%BA%AC'],
    ['return_to=/%25C3%25A9', '/%C3%A9'],
    ['return_to=/a%20b', '/a%20b'],
    ['return_to=/a+b', '/a%20b'],
    ['return_to=/go%3Furl%3Dhttps%3A%2F%2Fevil.example', '/go?url=https://evil.example'],
    ['return_to=/x%3Fy%3D%5C', '/x?y=\\'],
    ['return_to=/@evil.example', '/@evil.example'],
    ['return_to=/a//b', '/a//b'],
    [`return_to=/${'a'.repeat(2047)}`, `/${'a'.repeat(2047)}`],
  ];
  for (const [query, expected] of cases) t.equal(await landing(query), expected, query.slice(0, 60));
});

t.test('anything else is refused before the sign-in starts', async (t) => {
  const attacks = [
    'return_to=//evil.example',
    'return_to=//address.invalid/orders',
    'return_to=/a%5Cb',
    'return_to=///evil.example',
    'return_to=/%5Cevil.example',
    'return_to=%5C%5Cevil.example',
    'return_to=/%09/evil.example',
    'return_to=/%0A/evil.example',
    'return_to=%09//evil.example',
    'return_to=%20//evil.example',
    'return_to=/..//evil.example',
    'return_to=/.//evil.example',
    'return_to=/a/..//evil.example',
    'return_to=/a/%252e%252e//evil.example',
    'return_to=/a%5C..%5C%5Cevil.example',
    'return_to=https://evil.example/',
    'return_to=https:evil.example',
    'return_to=javascript:alert(1)',
    'return_to=data:text/html,x',
    'return_to=orders',
    'return_to=%3Fa',
    'return_to=%23a',
    'return_to=.',
    'return_to=/a%0D%0ASet-Cookie:%20x=y',
    'return_to=/a%00',
    'return_to=/a%7F',
    'return_to=/a&return_to=/b',
    'return_to=/a&return_to=',
    `return_to=${encodeURIComponent(edge)}/a`,
    `return_to=/${'a'.repeat(2048)}`,
  ];
  for (const query of attacks) {
    const answer = await ask(login(query));
    t.equal(answer.status, 400, query.slice(0, 60));
    t.equal(JSON.parse(answer.text).code, 'VALIDATION_FAILED');
    t.equal(answer.headers['cache-control'], 'no-store');
    t.same(answer.setCookies, []);
    t.equal(answer.text.includes('evil'), false, 'the answer repeats nothing of it');
  }
});
