import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { freePort } from '../free-port.js';
import { browser } from './fixtures/browser.js';
import { run } from './fixtures/command.js';
import { ask } from './fixtures/http.js';

const cli = fileURLToPath(new URL('./cli.js', import.meta.resolve('@nn-runtime/dev')));
const program = join(import.meta.dirname, '../../examples/python-app/app.py');
const python = spawnSync('python3', ['-c', 'import sys; sys.exit(sys.version_info < (3, 8))']);
const skip = python.status === 0 ? false : 'python3 (3.8 or newer) is not on this machine';

t.test('an application in Python, by the protocol alone', { skip }, async (t) => {
  const own = `http://127.0.0.1:${await freePort()}`;
  const dev = run(
    t,
    cli,
    [
      ...['--port', '0', '--broker-port', '0', '--nyxdb-port', '0', '--iam-port', '0'],
      ...['--app', own, '--', 'python3', program],
    ],
    { PYTHONDONTWRITEBYTECODE: '1' },
  );
  await dev.until(/^\[app\] the Python application listens on port \d+$/m);
  const [, edge = ''] = await dev.until(/your application {2}(http:\S+)/);
  const [, broker = ''] = await dev.until(/broker {12}(http:\S+)/);
  const person = browser();
  const get = async (path: string) => {
    const { status, text } = await person.visit(edge + path);
    return { status, body: JSON.parse(text) };
  };

  t.strictSame(await get('/api/me'), { status: 200, body: { person: null } });
  t.match(await get('/api/nations'), { status: 401, body: { login_path: '/.nnumbers/auth/login' } });

  await person.follow(`${edge}/.nnumbers/auth/login?login_hint=ana@example.org&return_to=/`);
  t.strictSame(await get('/'), { status: 200, body: { hello: 'Ana Souza' } });
  const nations = await get('/api/nations');
  t.equal(nations.status, 200);
  t.strictSame(nations.body.columns, [
    { name: 'name', type: 'varchar' },
    { name: 'regionkey', type: 'bigint' },
  ]);
  t.equal(nations.body.rows.length, 25);
  t.strictSame(nations.body.rows[2], ['BRAZIL', 1]);

  // Nothing but the platform may say who it is, not even on the paths that do not pass the edge.
  const compact = (header: object, claims: object, signature: string) =>
    [JSON.stringify(header), JSON.stringify(claims)]
      .map((part) => Buffer.from(part).toString('base64url'))
      .concat(signature)
      .join('.');
  const { claims } = { claims: (await get('/api/me')).body.person };
  t.equal(claims.email, 'ana@example.org');
  const jwks = JSON.parse((await ask(`${broker}/v1/jwks`)).text);
  const header = { alg: 'ES256', typ: 'nn-identity+jwt', kid: jwks.keys[0].kid };
  for (const identity of [
    '',
    'ana',
    compact(header, claims, 'A'.repeat(86)),
    compact({ ...header, alg: 'none' }, claims, 'A'.repeat(86)),
    compact({ ...header, kid: 'nobody' }, claims, 'A'.repeat(86)),
  ]) {
    const answer = await ask(`${own}/api/me`, { headers: { 'x-nnumbers-identity': identity } });
    t.equal(answer.status, 401, identity.slice(0, 20));
    t.match(JSON.parse(answer.text), { code: 'IDENTITY_ASSERTION_INVALID' });
  }

  const post = (path: string, body: object) =>
    ask(broker + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  t.equal((await post('/dev/faults', { capability: false })).status, 200);
  t.match(await get('/api/nations'), { status: 409, body: { code: 'QUERYMESH_NOT_ENABLED' } });
  await post('/dev/faults', { clockOffsetSeconds: -400 });
  t.match(await get('/api/me'), { status: 401 }, 'expired');
  await post('/dev/faults', { clockOffsetSeconds: 400 });
  t.match(await get('/api/me'), { status: 401 }, 'not valid yet');

  t.notMatch(dev.stdout(), /SELECT|eyJ/);
  dev.kill('SIGINT');
  t.equal(await dev.ended, 130);
  t.match(dev.stdout(), /^\[app\] the Python application ended$/m);
});

t.test('a key the application has never seen is asked for', { skip }, async (t) => {
  const own = `http://127.0.0.1:${await freePort()}`;
  const dev = run(
    t,
    cli,
    [
      ...['--port', '0', '--broker-port', '0', '--nyxdb-port', '0', '--iam-port', '0'],
      ...['--app', own, '--', 'python3', program],
    ],
    { PYTHONDONTWRITEBYTECODE: '1' },
  );
  await dev.until(/^\[app\] the Python application listens on port \d+$/m);
  const [, edge = ''] = await dev.until(/your application {2}(http:\S+)/);
  const [, broker = ''] = await dev.until(/broker {12}(http:\S+)/);
  const rotated = await ask(`${broker}/dev/keys`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"action":"rotate"}',
  });
  t.equal(rotated.status, 200);
  const person = browser();
  const { answer } = await person.follow(
    `${edge}/.nnumbers/auth/login?login_hint=bruno@example.org&return_to=/`,
  );
  t.strictSame(JSON.parse(answer.text), { hello: 'Bruno Lima' });
});
