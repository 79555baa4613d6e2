import { once } from 'node:events';
import { connect } from 'node:net';
import { type DevPerson, startPlatform } from '@nn-runtime/dev';
import { base64url, createLocalJWKSet, exportJWK, generateKeyPair, jwtVerify, SignJWT } from 'jose';
import t from 'tap';
import { type Answer, ask, raw } from './fixtures/http.js';

let now = Date.parse('2026-11-30T12:00:00Z');
const platform = await startPlatform({ apps: [{ id: 'shop' }, { id: 'desk' }], now: () => now });
t.teardown(() => platform.close());
const { brokerUrl, faults } = platform;
const port = Number(new URL(brokerUrl).port);
const ana = await platform.signIn('ana@example.org');
const nations = '{"sql":"SELECT name, regionkey FROM tpch.tiny.nation"}';

interface Query {
  identity?: string | undefined;
  body?: string | Buffer | undefined;
  type?: string | undefined;
}

function query({
  identity = ana.identity,
  body = nations,
  type = 'application/json',
}: Query = {}): Promise<Answer> {
  return ask(`${brokerUrl}/v1/querymesh/query`, {
    method: 'POST',
    headers: { 'content-type': type, ...(identity === 'absent' ? {} : { 'x-nnumbers-identity': identity }) },
    body,
  });
}

function refused(answer: Answer, status: number, code: string, name: string): void {
  const body = JSON.parse(answer.text);
  t.equal(answer.status, status, name);
  t.same(Object.keys(body), ['code', 'message'], name);
  t.equal(body.code, code, name);
  t.type(body.message, 'string');
  t.equal(answer.headers['cache-control'], 'no-store');
}

const parts = (token: string) => token.split('.') as [string, string, string];
const decode = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString());
const encode = (value: unknown) => base64url.encode(JSON.stringify(value));

t.test('the contract’s own query is answered with columns and rows', async (t) => {
  const answer = await query({
    body: '{"sql": "SELECT name, regionkey FROM tpch.tiny.nation", "max_rows": 1000}',
  });
  t.equal(answer.status, 200);
  t.match(answer.headers['content-type'], /^application\/json/);
  const { columns, rows } = JSON.parse(answer.text);
  t.same(columns, [
    { name: 'name', type: 'varchar' },
    { name: 'regionkey', type: 'bigint' },
  ]);
  t.equal(rows.length, 25);
  t.ok(rows.some(([name, region]: unknown[]) => name === 'BRAZIL' && region === 1));
});

t.test('a big integer keeps every digit', async (t) => {
  const answer = await query({ body: '{"sql":"SELECT 9223372036854775807 AS big"}' });
  t.match(answer.text, /\[\[9223372036854775807\]\]/);
});

t.test('no identity, or a session that ended, is USER_SESSION_REQUIRED', async (t) => {
  refused(await query({ identity: 'absent' }), 401, 'USER_SESSION_REQUIRED', 'absent');
  const bruno = await platform.signIn('bruno@example.org');
  t.equal((await query({ identity: bruno.identity })).status, 200);
  t.equal(faults.endSession('bruno@example.org'), 1);
  refused(await query({ identity: bruno.identity }), 401, 'USER_SESSION_REQUIRED', 'ended by the platform');

  const again = await platform.signIn('bruno@example.org');
  const edge = platform.apps.shop.url;
  await ask(`${edge}/.nnumbers/auth/logout`, {
    method: 'POST',
    headers: { origin: edge, cookie: again.cookie },
  });
  refused(await query({ identity: again.identity }), 401, 'USER_SESSION_REQUIRED', 'signed out');
  t.throws(() => faults.endSession('nobody@example.org'), RangeError);
});

t.test('an identity that does not check out is IDENTITY_ASSERTION_INVALID', async (t) => {
  const [header, payload, signature] = parts(ana.identity);
  const foreign = await generateKeyPair('ES256', { extractable: true });
  const claims = decode(payload);
  const resigned = (changed: object, protectedHeader: object = decode(header)) =>
    new SignJWT({ ...claims, ...changed })
      .setProtectedHeader({ alg: 'ES256', ...protectedHeader })
      .sign(foreign.privateKey);
  const flipped = `${signature[0] === 'A' ? 'B' : 'A'}${signature.slice(1)}`;
  const cases: [string, string][] = [
    ['empty', ''],
    ['blank', '   '],
    ['junk', 'x.y.z'],
    ['two parts', `${header}.${payload}`],
    ['four parts', `${ana.identity}.x`],
    ['padded', `${ana.identity}==`],
    ['Bearer', `Bearer ${ana.identity}`],
    ['joined', `${ana.identity}, ${ana.identity}`],
    ['too long', `${header}.${'A'.repeat(8200)}.${signature}`],
    ['another signature', `${header}.${payload}.${flipped}`],
    ['other claims under this signature', `${header}.${encode({ ...claims, sub: 'root' })}.${signature}`],
    ['none', `${encode({ ...decode(header), alg: 'none' })}.${payload}.`],
    ['signed by a stranger with this kid', await resigned({})],
    ['jwk in the header', await resigned({}, { ...decode(header), jwk: await exportJWK(foreign.publicKey) })],
    ['unknown kid', await resigned({}, { ...decode(header), kid: 'other' })],
  ];
  for (const [name, identity] of cases)
    refused(await query({ identity }), 401, 'IDENTITY_ASSERTION_INVALID', name);

  const twice = await raw(
    port,
    `POST /v1/querymesh/query HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/json\r\nX-NNumbers-Identity: ${ana.identity}\r\nX-NNumbers-Identity: ${ana.identity}\r\nContent-Length: ${nations.length}\r\nConnection: close\r\n\r\n${nations}`,
  );
  t.match(twice, /^HTTP\/1\.1 401 [\s\S]*IDENTITY_ASSERTION_INVALID/, 'two lines');
});

t.test('an identity is valid for five minutes and a minute of tolerance', async (t) => {
  const start = now;
  t.teardown(() => {
    now = start;
  });
  now = start + 359_000;
  t.equal((await query()).status, 200);
  now = start + 360_000;
  refused(await query(), 401, 'IDENTITY_ASSERTION_INVALID', 'expired');
  now = start - 60_000;
  t.equal((await query()).status, 200);
  now = start - 61_000;
  refused(await query(), 401, 'IDENTITY_ASSERTION_INVALID', 'not yet valid');
});

t.test('an identity of a withdrawn key is refused; one of a former key is not', async (t) => {
  const before = await platform.signIn('ana@example.org');
  const oldKid = decode(parts(before.identity)[0]).kid;
  const newKid = await faults.rotateKey();
  t.not(newKid, oldKid);
  const jwks = JSON.parse((await ask(`${brokerUrl}/v1/jwks`)).text);
  t.same(
    jwks.keys.map((key: { kid: string }) => key.kid),
    [oldKid, newKid],
  );
  t.equal((await query({ identity: before.identity })).status, 200);
  const after = await platform.signIn('ana@example.org');
  t.equal(decode(parts(after.identity)[0]).kid, newKid);
  await jwtVerify(after.identity, createLocalJWKSet(jwks), { currentDate: new Date(now) });

  t.equal(await faults.withdrawKey(), oldKid);
  refused(await query({ identity: before.identity }), 401, 'IDENTITY_ASSERTION_INVALID', 'withdrawn');
  t.equal((await query({ identity: after.identity })).status, 200);
  await t.rejects(faults.withdrawKey(oldKid), RangeError);
  t.equal(await faults.withdrawKey(newKid), newKid);
  t.equal(JSON.parse((await ask(`${brokerUrl}/v1/jwks`)).text).keys.length, 1, 'there is always a key');
});

t.test('what is asked is checked after who asks', async (t) => {
  const { identity } = await platform.signIn('ana@example.org');
  const cases: [string, Query][] = [
    ['no content type', { type: '' }],
    ['another content type', { type: 'text/plain' }],
    ['a type that only begins so', { type: 'application/jsonx' }],
    ['no body', { body: '' }],
    ['not JSON', { body: '{"sql":' }],
    ['bytes that are not UTF-8', { body: Buffer.from('{"sql":"SELECT \xff"}', 'latin1') }],
    ['a list', { body: '["SELECT 1"]' }],
    ['null', { body: 'null' }],
    ['no sql', { body: '{"max_rows":1}' }],
    ['sql of another type', { body: '{"sql":1}' }],
    ['blank sql', { body: '{"sql":" \\n\\t"}' }],
    ['max_rows 0', { body: '{"sql":"SELECT 1","max_rows":0}' }],
    ['max_rows -1', { body: '{"sql":"SELECT 1","max_rows":-1}' }],
    ['max_rows 100001', { body: '{"sql":"SELECT 1","max_rows":100001}' }],
    ['max_rows 1.5', { body: '{"sql":"SELECT 1","max_rows":1.5}' }],
    ['max_rows text', { body: '{"sql":"SELECT 1","max_rows":"1"}' }],
    ['max_rows null', { body: '{"sql":"SELECT 1","max_rows":null}' }],
    ['more than 1 MiB', { body: JSON.stringify({ sql: `SELECT 1 --${'x'.repeat(1024 * 1024)}` }) }],
  ];
  for (const [name, asked] of cases) {
    refused(await query({ identity, ...asked }), 400, 'VALIDATION_FAILED', name);
    refused(await query({ identity: 'absent', ...asked }), 401, 'USER_SESSION_REQUIRED', `nobody, ${name}`);
    refused(
      await query({ identity: 'x.y.z', ...asked }),
      401,
      'IDENTITY_ASSERTION_INVALID',
      `forged, ${name}`,
    );
  }
  for (const type of ['application/json; charset=utf-8', 'APPLICATION/JSON', 'application/json ;x=y'])
    t.equal((await query({ identity, type })).status, 200, type);
  for (const body of ['{"sql":"SELECT 1","max_rows":1}', '{"sql":"SELECT 1","max_rows":100000}'])
    t.equal((await query({ identity, body })).status, 200, body);
});

t.test('integration and capability come before the query, after the request', async (t) => {
  const { identity } = await platform.signIn('ana@example.org');
  t.teardown(() => faults.set({ integration: true, capability: true, deny: [] }));
  faults.set({ integration: false, capability: false, deny: ['ana@example.org'] });
  const bad = '{"sql":""}';
  refused(await query({ identity, body: bad }), 400, 'VALIDATION_FAILED', 'the request first');
  refused(await query({ identity }), 409, 'ORGANIZATION_INTEGRATION_NOT_CONFIGURED', 'integration');
  faults.set({ integration: true });
  refused(await query({ identity }), 409, 'QUERYMESH_NOT_ENABLED', 'capability');
  faults.set({ capability: true });
  refused(await query({ identity }), 403, 'QUERYMESH_ACCESS_DENIED', 'denied');
  const bruno = await platform.signIn('bruno@example.org');
  t.equal((await query({ identity: bruno.identity })).status, 200, 'somebody else is not denied');
});

t.test('what QueryMesh refuses is 422', async (t) => {
  const { identity } = await platform.signIn('ana@example.org');
  const none = await query({ identity, body: '{"sql":"SELECT * FROM tpch.tiny.nowhere"}' });
  refused(none, 422, 'QUERYMESH_QUERY_FAILED', 'no such table');
  const capped = await query({ identity, body: '{"sql":"SELECT * FROM tpch.tiny.nation","max_rows":24}' });
  refused(capped, 422, 'QUERYMESH_QUERY_FAILED', 'past the cap');
  t.equal(
    (await query({ identity, body: '{"sql":"SELECT * FROM tpch.tiny.nation","max_rows":25}' })).status,
    200,
    'exactly the cap',
  );
});

t.test('a caller that goes away takes its query along', async (t) => {
  const { identity } = await platform.signIn('ana@example.org');
  const endless = JSON.stringify({
    sql: 'SELECT count(*) FROM tpch.tiny.lineitem a, tpch.tiny.lineitem b, tpch.tiny.lineitem c WHERE a.comment < b.comment AND b.comment < c.comment',
  });
  const head = `POST /v1/querymesh/query HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/json\r\nX-NNumbers-Identity: ${identity}\r\n`;
  // More than run and wait at once, so the next query is answered only when these are gone.
  const sockets = Array.from({ length: 24 }, () => connect(port, '127.0.0.1'));
  for (const socket of sockets) socket.write(`${head}Content-Length: ${endless.length}\r\n\r\n${endless}`);
  // Those that found no place are answered; by then the others run or wait.
  const [refusal] = await Promise.race(sockets.map((socket) => once(socket, 'data')));
  t.match(String(refusal), /^HTTP\/1\.1 503 [\s\S]*retry-after: 1\r\n[\s\S]*QUERYMESH_UNAVAILABLE/i);
  for (const socket of sockets) socket.destroy();
  let answer = await query({ identity, body: '{"sql":"SELECT 1"}' });
  for (let attempt = 0; answer.status === 503 && attempt < 200; attempt += 1)
    answer = await query({ identity, body: '{"sql":"SELECT 1"}' });
  t.equal(answer.status, 200);
});

t.test('a broker that is down, or garbage', async (t) => {
  t.teardown(() => faults.set({ broker: 'up', jwks: 'up' }));
  const { identity } = await platform.signIn('ana@example.org');
  faults.set({ jwks: 'down' });
  await t.rejects(ask(`${brokerUrl}/v1/jwks`));
  t.equal((await query({ identity })).status, 200, 'the key set alone is down');
  faults.set({ jwks: 'garbage' });
  const garbage = await ask(`${brokerUrl}/v1/jwks`);
  t.equal(garbage.status, 200);
  t.match(garbage.headers['content-type'], 'text/html');
  faults.set({ broker: 'down' });
  await t.rejects(query({ identity }));
  // @ts-expect-error: not a fault
  t.throws(() => faults.set({ brocker: 'down' }), TypeError);
});

t.test('the platform’s clock can be wrong', async (t) => {
  t.teardown(() => faults.set({ clockOffsetSeconds: 0 }));
  faults.set({ clockOffsetSeconds: 600 });
  const { identity } = await platform.signIn('ana@example.org');
  t.equal(decode(parts(identity)[1]).iat, now / 1000 + 600);
});

t.test('every other path and method is refused', async (t) => {
  t.equal((await ask(`${brokerUrl}/`)).status, 404);
  t.equal((await ask(`${brokerUrl}/v1/jwks/`)).status, 404);
  const post = await ask(`${brokerUrl}/v1/jwks`, { method: 'POST' });
  t.equal(post.status, 405);
  t.equal(post.headers.allow, 'GET');
  const get = await ask(`${brokerUrl}/v1/querymesh/query`);
  t.equal(get.status, 405);
  t.equal(get.headers.allow, 'POST');
});

t.test('options at fault are named before anything starts', async (t) => {
  const nobody: DevPerson[] = [];
  const twins = [{ sub: 'a' }, { sub: 'a' }];
  await t.rejects(startPlatform({ apps: [] }), TypeError);
  await t.rejects(startPlatform({ apps: [{ id: 'a' }, { id: 'a' }] }), /same id/);
  await t.rejects(startPlatform({ apps: [{ id: 'a b' }] }), TypeError);
  await t.rejects(startPlatform({ apps: [{ id: 'a', url: 'https://127.0.0.1' }] }), /like http:\/\/127/);
  await t.rejects(startPlatform({ apps: [{ id: 'a', url: 'http://example.org' }] }), TypeError);
  await t.rejects(startPlatform({ apps: [{ id: 'a', url: 'http://127.0.0.1:1/base' }] }), TypeError);
  for (const id of ['__proto__', 'constructor', 'toString']) {
    await t.rejects(startPlatform({ apps: [{ id }] }), /a name that every object has/);
  }
  await t.rejects(
    startPlatform({ apps: [{ id: 'a', url: 'http://127.0.0.1:3000', port: 3000 }] }),
    /port 3000/,
  );
  await t.rejects(startPlatform({ apps: [{ id: 'a', url: 'http://localhost', port: 80 }] }), /port 80/);
  // @ts-expect-error a mistyped name
  await t.rejects(startPlatform({ apps: [{ id: 'a', prot: 8080 }] }), /prot/);
  // @ts-expect-error a port is of an application
  await t.rejects(startPlatform({ apps: [{ id: 'a' }], port: 8080 }), /port/);
  // @ts-expect-error there is no such part
  await t.rejects(startPlatform({ apps: [{ id: 'a' }], ports: { edge: 8080 } }), /edge/);
  // @ts-expect-error a clock is a function
  await t.rejects(startPlatform({ apps: [{ id: 'a' }], now: 0 }), /now/);
  await t.rejects(startPlatform({ apps: [{ id: 'a' }], people: nobody }), TypeError);
  await t.rejects(startPlatform({ apps: [{ id: 'a' }], people: twins }), /same sub/);
  await t.rejects(startPlatform({ apps: [{ id: 'a' }], ports: { broker: port } }), {
    name: 'PortInUseError',
    code: 'PORT_IN_USE',
    port,
    part: 'broker',
  });
  await t.rejects(startPlatform({ apps: [{ id: 'a', port }] }), {
    name: 'PortInUseError',
    part: 'edge',
    appId: 'a',
  });
});

t.test('it does not start in production', async (t) => {
  t.teardown(() => {
    delete process.env.NODE_ENV;
  });
  process.env.NODE_ENV = 'production';
  await t.rejects(startPlatform({ apps: [{ id: 'a' }] }), /NODE_ENV=production/);
});
