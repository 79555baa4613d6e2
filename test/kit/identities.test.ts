import { createRuntime } from '@nn-runtime/core';
import { createTestIdentities, testPeople } from '@nn-runtime/dev/testing';
import t from 'tap';
import { frameworks } from '../frameworks.js';
import { ask } from '../http.js';
import { RawConnection } from '../raw-http.js';

/** What a promise rejects with. */
const errorOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => undefined,
    (error: unknown) => error,
  );

const in2030 = Date.UTC(2030, 5, 1, 12);

for (const framework of frameworks) {
  t.test(`${framework.name} takes the identities of the kit`, async (t) => {
    const refused: string[] = [];
    const identities = createTestIdentities();
    const app = await framework.start({
      ...identities.runtimeOptions,
      onRefused: ({ reason }) => refused.push(reason),
    });
    t.teardown(() => app.close());
    const me = async (headers: Record<string, string>) => ask(`${app.url}/me`, { headers });

    t.match((await me(identities.headers())).json(), {
      kind: 'person',
      subject: '5b1c7a0e-ana',
      name: 'Ana Souza',
      email: 'ana@example.org',
      emailVerified: true,
      preferredUsername: 'ana',
      organization: { id: 'org_test', slug: 'test' },
    });
    t.match((await me(identities.headers(testPeople.bruno))).json(), {
      name: 'Bruno Lima',
      emailVerified: false,
    });
    const unnamed = (await me(identities.headers(testPeople.nameless))).json() as object;
    t.notOk('name' in unnamed || 'email' in unnamed);
    t.strictSame((await me(identities.headers(null))).json(), { kind: 'anonymous' });
    t.equal(refused.length, 0);

    const connection = await RawConnection.open(app.port);
    t.teardown(() => connection.close());
    for (const { name, value, reason, statusCode } of identities.refused()) {
      const lines = typeof value === 'string' ? [value] : value;
      const answer = await connection.request(lines.map((line) => `X-NNumbers-Identity: ${line}`));
      t.equal(answer.status, 401, `${name} is refused`);
      t.equal(statusCode, 401);
      t.equal(refused.pop(), reason, `${name} is refused for this and nothing else`);
    }
  });
}

t.test('each refused identity, by its name and its reason', async (t) => {
  const identities = createTestIdentities();
  t.strictSame(Object.fromEntries(identities.refused().map(({ name, reason }) => [name, reason])), {
    tampered: 'signature',
    forged: 'signature',
    expired: 'expired',
    notYetValid: 'not-yet-valid',
    longLived: 'lifetime',
    unknownKid: 'unknown-key',
    noKid: 'key-id',
    otherApplication: 'audience',
    twoApplications: 'audience',
    otherOrganization: 'organization',
    otherIssuer: 'issuer',
    otherAlgorithm: 'algorithm',
    unsigned: 'malformed',
    otherType: 'type',
    criticalExtension: 'critical',
    incomplete: 'claims',
    malformed: 'malformed',
    empty: 'empty',
    tooLong: 'too-long',
    repeated: 'repeated',
  });
});

t.test('an identity is what the contract says, to the letter', async (t) => {
  const identities = createTestIdentities({ now: () => in2030 });
  const parts = identities.header('bruno@example.org').split('.');
  const [header, claims] = parts
    .slice(0, 2)
    .map((part) => JSON.parse(Buffer.from(part, 'base64url').toString('utf8')));
  t.strictSame(header, { alg: 'ES256', typ: 'nn-identity+jwt', kid: identities.kid });
  t.match(claims.jti, /^[0-9a-f-]{36}$/);
  t.strictSame(
    { ...claims, jti: '' },
    {
      iss: 'https://identity.nnumbers.test',
      aud: 'app_test',
      jti: '',
      sub: '9d40f2b8-bruno',
      org: 'org_test',
      org_slug: 'test',
      iam: 'https://iam.nnumbers.test',
      sid: 'session-9d40f2b8-bruno',
      name: 'Bruno Lima',
      email: 'bruno@example.org',
      email_verified: false,
      preferred_username: 'bruno',
      iat: 1906545600,
      nbf: 1906545600,
      exp: 1906545900,
    },
  );
  t.not(identities.header(), identities.header(), 'each has an identifier of its own');
  t.match(JSON.parse(identities.env.NNUMBERS_IDENTITY_JWKS), {
    keys: [{ kty: 'EC', crv: 'P-256', kid: identities.kid, alg: 'ES256', use: 'sig' }],
  });
  t.notMatch(identities.env.NNUMBERS_IDENTITY_JWKS, /"d"/, 'the private key is published nowhere');
});

t.test('the runtime of another year takes them by the same clock, until they expire', async (t) => {
  let nowMs = in2030;
  const identities = createTestIdentities({ now: () => nowMs });
  const runtime = createRuntime(identities.runtimeOptions);
  t.teardown(() => runtime.close());
  const header = identities.header();
  t.match((await runtime.authenticate(header)).identity, { expiresAt: new Date(in2030 + 300_000) });
  nowMs += 359_999;
  t.match((await runtime.authenticate(header)).identity, { kind: 'person' });
  t.match(identities.verify(header), { sub: '5b1c7a0e-ana' });
  nowMs += 1;
  t.match(await errorOf(runtime.authenticate(header)), { reason: 'expired' });
  t.equal(identities.verify(header), undefined, 'the kit agrees');
  const seconds = nowMs / 1000;
  t.ok(identities.verify(identities.header(undefined, { nbf: seconds + 60 })), 'a minute ahead is tolerated');
  t.equal(identities.verify(identities.header(undefined, { nbf: seconds + 61 })), undefined);
});

t.test('options decide application, organization, issuer and the person by default', async (t) => {
  const identities = createTestIdentities({
    appId: 'app-9',
    organization: { id: 'org-9', slug: 'nine' },
    issuer: 'https://issuer.example',
    iam: 'https://iam.example',
    person: { sub: 'u-9', name: 'Nine' },
  });
  const runtime = createRuntime({ env: identities.env });
  t.teardown(() => runtime.close());
  const { identity } = await runtime.authenticate(identities.header());
  t.match(identity, {
    subject: 'u-9',
    name: 'Nine',
    organization: { id: 'org-9', slug: 'nine' },
    iam: 'https://iam.example',
    claims: { iss: 'https://issuer.example', aud: 'app-9' },
  });
  for (const options of [{ appId: ' ' }, { issuer: '' }, { organization: { id: 'o', slug: '' } }])
    t.throws(() => createTestIdentities(options), TypeError);
  t.throws(() => createTestIdentities({ now: () => Number.NaN }).header(), TypeError);
  t.throws(() => createTestIdentities({ appID: 'shop' } as object), { message: 'appID is no option' });
});

t.test('a person is an object or an email address, and always the same subject', async (t) => {
  const identities = createTestIdentities();
  const claims = (header: string) => identities.verify(header);
  t.match(claims(identities.header('carla@example.org')), {
    sub: 'sub-carla@example.org',
    email: 'carla@example.org',
  });
  t.match(claims(identities.header({ email: 'carla@example.org', name: 'Carla' })), {
    sub: 'sub-carla@example.org',
    name: 'Carla',
  });
  t.match(claims(identities.header('ana@example.org')), { sub: '5b1c7a0e-ana', name: 'Ana Souza' });
  t.throws(() => identities.header(null as never), TypeError);
  t.match(claims(identities.header(undefined, { department: 'sales', sid: 's-1' })), {
    department: 'sales',
    sid: 's-1',
  });
  t.equal(claims(identities.header(undefined, { sub: undefined })), undefined, 'a claim can be left out');
});

t.test('without a broker nobody can say what an unknown key is worth', async (t) => {
  const identities = createTestIdentities();
  const runtime = createRuntime({ env: identities.env });
  t.teardown(() => runtime.close());
  t.match(await errorOf(runtime.authenticate(identities.unknownKid())), { statusCode: 503 });
  const informed = createRuntime(identities.runtimeOptions);
  t.teardown(() => informed.close());
  t.match(await errorOf(informed.authenticate(identities.unknownKid())), { statusCode: 401 });
  const { queryMesh } = await informed.authenticate(identities.header());
  await t.rejects(queryMesh('SELECT 1'), { code: 'QUERYMESH_UNAVAILABLE' });
});

t.test('a rotated key is found, and a withdrawn one is given up', async (t) => {
  let nowMs = in2030;
  const identities = createTestIdentities({ now: () => nowMs });
  const runtime = createRuntime(identities.runtimeOptions);
  t.teardown(() => runtime.close());
  const first = identities.kid;
  const second = identities.rotateKey();
  t.equal(identities.kid, second);
  t.strictSame(
    identities.jwks().keys.map(({ kid }) => kid),
    [first, second],
  );
  const rotated = identities.header();
  t.match((await runtime.authenticate(rotated)).identity, { kind: 'person' });
  identities.withdrawKey(second);
  t.equal(identities.verify(rotated), undefined);
  t.not(identities.kid, second);
  t.throws(() => identities.withdrawKey(second), RangeError);
  // Past 15 minutes a set is not trusted any more, so it is asked for again.
  nowMs += 16 * 60_000;
  const late = identities.sign({ ...identities.verify(identities.header()) }, { kid: second });
  t.match(await errorOf(runtime.authenticate(late)), { reason: 'unknown-key' });
});

t.test('the kit verifies what the contract has verified, and no more', async (t) => {
  const identities = createTestIdentities();
  t.match(identities.verify(identities.header()), { sub: '5b1c7a0e-ana' });
  // Neither is in the contract's list of checks: the lifetime and the length are the runtime's own.
  const lenient = ['longLived', 'tooLong'];
  for (const { name, value } of identities.refused()) {
    if (typeof value !== 'string' || lenient.includes(name)) continue;
    t.equal(identities.verify(value), undefined, name);
  }
  t.equal(identities.verify(createTestIdentities().header()), undefined, 'nor what another kit signed');
});
