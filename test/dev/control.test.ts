import { startPlatform } from '@nn-runtime/dev';
import t from 'tap';
import { ask } from '../http.js';

const platform = await startPlatform({ apps: [{ id: 'shop' }] });
t.teardown(() => platform.close());
const { port } = new URL(platform.brokerUrl);
const at = (path: string) => platform.brokerUrl + path;
const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
  ask(at(path), {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
const healthy = {
  broker: 'up',
  jwks: 'up',
  brokerKeys: true,
  queryMesh: 'up',
  integration: true,
  capability: true,
  deny: [],
  clockOffsetSeconds: 0,
};

t.test('the state is JSON that nobody stores, without any secret', async (t) => {
  const response = await ask(at('/dev/state'));
  t.equal(response.status, 200);
  t.equal(response.headers['cache-control'], 'no-store');
  const state = response.json() as { faults: object; keys: string[]; apps: string[] };
  t.strictSame(state.faults, healthy);
  t.strictSame(state.apps, ['shop']);
  t.equal(state.keys.length, 1);
  t.notMatch(response.text, /"d"|cookie|token|secret/);
});

t.test('faults are set by name, and the others stay', async (t) => {
  t.match((await post('/dev/faults', { integration: false, deny: ['ana@example.org'] })).json(), {
    faults: { integration: false, deny: ['ana@example.org'], capability: true },
  });
  t.match((await post('/dev/faults', { integration: true, deny: [] })).json(), { faults: healthy });
});

t.test('keys are rotated and withdrawn', async (t) => {
  const before = ((await ask(at('/dev/state'))).json() as { keys: string[] }).keys;
  const { kid } = (await post('/dev/keys', { action: 'rotate' })).json() as { kid: string };
  const jwks = (await ask(at('/v1/jwks'))).json() as { keys: { kid: string }[] };
  t.strictSame(
    jwks.keys.map((key) => key.kid),
    [...before, kid],
  );
  t.strictSame((await post('/dev/keys', { action: 'withdraw', kid: before[0] })).json(), { kid: before[0] });
  t.equal((await post('/dev/keys', { action: 'withdraw', kid: 'nobody' })).status, 400);
});

t.test('a session is ended', async (t) => {
  const { cookie } = await platform.signIn('ana@example.org');
  const session = () => ask(`${platform.apps.shop.url}/.nnumbers/auth/session`, { headers: { cookie } });
  t.match((await session()).json(), { user: { name: 'Ana Souza' } });
  t.strictSame((await post('/dev/sessions', { end: 'ana@example.org' })).json(), { ended: 1 });
  t.match((await session()).json(), { user: null });
});

t.test('what is wrong in a body is said, and changes nothing', async (t) => {
  const bodies: [string, unknown][] = [
    ['/dev/faults', '{'],
    ['/dev/faults', '"up"'],
    ['/dev/faults', { broker: 'sideways' }],
    ['/dev/faults', { brocker: 'down' }],
    ['/dev/faults', { integration: 'no' }],
    ['/dev/faults', { queryMesh: 'tired' }],
    ['/dev/faults', { brokerKeys: 'up' }],
    // A mistyped person would be denied nothing, and the test of it would pass.
    ['/dev/faults', { capability: false, deny: ['ana@example.org', 'nobody@example.org'] }],
    ['/dev/keys', {}],
    ['/dev/keys', { action: 'sell' }],
    ['/dev/sessions', {}],
    ['/dev/sessions', { end: 'nobody@example.org' }],
  ];
  for (const [path, body] of bodies) {
    const response = await post(path, body);
    t.equal(response.status, 400, `${path} ${JSON.stringify(body)}`);
    t.match(response.json(), { code: 'VALIDATION_FAILED', message: /./ });
  }
  t.match((await ask(at('/dev/state'))).json(), { faults: healthy });
});

t.test('it answers this machine alone, by a loopback name with its port', async (t) => {
  for (const host of ['evil.example', `evil.example:${port}`, '127.0.0.1', `127.0.0.1:1${port}`]) {
    t.equal((await ask(at('/dev/state'), { headers: { host } })).status, 403, host);
    t.equal((await post('/dev/faults', { broker: 'down' }, { host })).status, 403, host);
  }
  t.equal((await ask(at('/dev/state'), { headers: { host: `localhost:${port}` } })).status, 200);
});

t.test('a page of another site can neither read nor change anything', async (t) => {
  for (const headers of [
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: `http://localhost:${port}` },
    { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' },
    { 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'cors' },
  ]) {
    const read = await ask(at('/dev/state'), { headers });
    t.equal(read.status, 403, JSON.stringify(headers));
    t.equal(read.headers['access-control-allow-origin'], undefined);
    t.equal((await post('/dev/faults', { broker: 'down' }, headers)).status, 403);
  }
  // What a form can send without a preflight.
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp', '']) {
    t.equal((await post('/dev/faults', { broker: 'down' }, { 'content-type': type })).status, 415, type);
  }
  t.equal((await ask(at('/dev/faults'), { method: 'OPTIONS' })).status, 405);
  t.match((await ask(at('/dev/state'))).json(), { faults: healthy });
});

t.test('a wrong method is 405 and says the right one', async (t) => {
  t.match(await ask(at('/dev/faults')), { status: 405, headers: { allow: 'POST' } });
  t.match(await ask(at('/dev/state'), { method: 'POST' }), { status: 405, headers: { allow: 'GET, HEAD' } });
});

t.test('the page has a label for everything and no script of its own in it', async (t) => {
  const { status, headers, text } = await ask(at('/dev'));
  t.equal(status, 200);
  t.match(headers['content-security-policy'], "default-src 'none'; script-src 'self'");
  t.match(text, '<script src="/dev/control.js" defer></script>');
  t.notMatch(text, /\son\w+=|javascript:/);
  for (const control of text.match(/<(input|select)[^>]*>/g) ?? []) {
    const [, id = ''] = / id="(\w+)"/.exec(control) ?? [];
    t.match(
      text.slice(0, text.indexOf(control)),
      id === '' ? /<label>[^/]*$/ : `<label for="${id}">`,
      control,
    );
  }
  t.match(await ask(at('/dev/control.js')), {
    status: 200,
    headers: { 'content-type': /^text\/javascript/ },
  });
});
