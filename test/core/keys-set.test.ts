import { generateKeyPairSync } from 'node:crypto';
import { ConfigurationError, createRuntime } from '@nn-runtime/core';
import t from 'tap';
import { environment, makeKey, type SigningKey, signParts, token } from '../tokens.js';
import {
  collectEvents,
  hourLong,
  keySet,
  nextEvent,
  startStore,
  UNAVAILABLE,
  UNKNOWN,
  verdictOf,
} from './key-store.js';

const root = makeKey('root');
const b1 = makeKey('b1');
const changed = (key: SigningKey, changes: Record<string, unknown>): SigningKey => ({
  ...key,
  jwk: Object.fromEntries(
    Object.entries({ ...key.jwk, ...changes }).filter(([, value]) => value !== undefined),
  ),
});
const privateJwk = (key: SigningKey): SigningKey => ({
  ...key,
  jwk: { ...key.privateKey.export({ format: 'jwk' }), kid: key.kid },
});
const foreign = (kid: string, ...generate: Parameters<typeof exportOf>): SigningKey => ({
  ...b1,
  jwk: { ...exportOf(...generate), kid },
});
function exportOf(type: 'rsa' | 'ed25519' | 'x25519' | 'P-384' | 'secp256k1'): Record<string, unknown> {
  const { publicKey } =
    type === 'rsa'
      ? generateKeyPairSync('rsa', { modulusLength: 2_048 })
      : type === 'ed25519'
        ? generateKeyPairSync('ed25519')
        : type === 'x25519'
          ? generateKeyPairSync('x25519')
          : generateKeyPairSync('ec', { namedCurve: type });
  return { ...publicKey.export({ format: 'jwk' }) };
}
// The point (x, y) with another y is on no P-256.
const offCurve = (key: SigningKey): SigningKey => changed(key, { y: `A${String(key.jwk.y).slice(1, 42)}A` });

const unusable: readonly [name: string, key: SigningKey][] = [
  ['without a key ID', changed(b1, { kid: undefined })],
  ['with an empty key ID', changed(b1, { kid: '' })],
  ['with a key ID of another type', changed(b1, { kid: 1 })],
  ['with a key ID of 129 characters', changed(b1, { kid: 'k'.repeat(129) })],
  ['with a key ID outside printable ASCII', changed(b1, { kid: 'b1\n' })],
  ['for encryption', changed(b1, { use: 'enc' })],
  ['of no use', changed(b1, { use: null })],
  ['for signing only', changed(b1, { key_ops: ['sign'] })],
  ['for no operation', changed(b1, { key_ops: [] })],
  ['whose operations are no list', changed(b1, { key_ops: 'verify' })],
  ['of another algorithm', changed(b1, { alg: 'ES384' })],
  ['of the algorithm none', changed(b1, { alg: 'none' })],
  ['of another kind', changed(b1, { kty: 'OKP' })],
  ['of another curve', changed(b1, { crv: 'P-384' })],
  ['without x', changed(b1, { x: undefined })],
  ['without y', changed(b1, { y: undefined })],
  ['with a number for x', changed(b1, { x: 1 })],
  ['with a short x', changed(b1, { x: String(b1.jwk.x).slice(1) })],
  ['with a padded x', changed(b1, { x: `${b1.jwk.x}=` })],
  ['that is an RSA key', foreign('b1', 'rsa')],
  ['that is an Ed25519 key', foreign('b1', 'ed25519')],
  ['that is an X25519 key', foreign('b1', 'x25519')],
  ['that is a P-384 key', foreign('b1', 'P-384')],
  ['that is a secp256k1 key', foreign('b1', 'secp256k1')],
  ['that is a secret', { ...b1, jwk: { kty: 'oct', k: 'c2VjcmV0', kid: 'b1' } }],
  ['that is null', { ...b1, jwk: null as unknown as Record<string, unknown> }],
  ['that is text', { ...b1, jwk: 'b1' as unknown as Record<string, unknown> }],
];

for (const [name, key] of [
  ...unusable,
  ['off the curve', offCurve(b1)],
  ['with its private part', privateJwk(b1)],
] as const) {
  const problem =
    name === 'off the curve'
      ? 'off-curve-point'
      : name === 'with its private part'
        ? 'private-key'
        : 'unusable-key';

  t.test(`a key of the broker ${name} is left out, with a warning, and its neighbours count`, async (t) => {
    const neighbour = makeKey('neighbour');
    const store = startStore({ environmentKeys: [root] });
    store.answer(() => keySet(key, neighbour));
    const warning = nextEvent('nn-runtime:keys.warning');
    t.equal(await store.verdict(hourLong(neighbour)), 'person ana-0001');
    t.strictSame(await warning, { source: 'broker', problem });
    t.equal(await store.verdict(hourLong(b1)), UNKNOWN);
    t.match(store.runtime.status(), { brokerKeys: 1 });
  });

  t.test(`a broker whose only key is one ${name} has answered nothing`, async (t) => {
    const store = startStore({ environmentKeys: [root] });
    store.answer(() => keySet(b1));
    await store.verdict(hourLong(b1));
    store.answer(() => keySet(key));
    store.pass(300);
    const refreshed = nextEvent('nn-runtime:keys.refreshed');
    await store.verdict(hourLong(b1));
    t.match(await refreshed, { outcome: 'failed', problem: 'no-usable-key' });
    t.equal(await store.verdict(hourLong(b1, 'eva')), 'person eva');
  });
}

for (const [name, key] of unusable) {
  t.test(
    `a key of the environment ${name} is left out with a warning, and stops the start when it is the only one`,
    async (t) => {
      const warnings = collectEvents('nn-runtime:keys.warning');
      const store = startStore({ environmentKeys: [key, root] });
      warnings.stop();
      t.strictSame(warnings.events, [{ source: 'environment', problem: 'unusable-key' }]);
      t.equal(await store.verdict(hourLong(root)), 'person ana-0001');
      t.equal(await store.verdict(hourLong(b1)), UNAVAILABLE);
      t.match(store.runtime.status(), { environmentKeys: 1 });
      t.throws(() => startStore({ environmentKeys: [key] }), {
        code: 'CONFIGURATION_INVALID',
        faults: [
          { name: 'NNUMBERS_IDENTITY_JWKS', problem: 'holds no usable P-256 signing key with a key ID' },
        ],
      });
    },
  );
}

t.test(
  'a private key, or a point off the curve, in the environment stops the start, whatever is beside it',
  async (t) => {
    for (const [key, problem] of [
      [privateJwk(b1), 'holds a private key'],
      [{ ...b1, jwk: { kty: 'RSA', n: 'AQAB', e: 'AQAB', d: 'AQAB', kid: 'rsa' } }, 'holds a private key'],
      [offCurve(b1), 'holds a key whose point is not on P-256'],
    ] as const) {
      t.throws(() => startStore({ environmentKeys: [root, key] }), {
        code: 'CONFIGURATION_INVALID',
        faults: [{ name: 'NNUMBERS_IDENTITY_JWKS', problem }],
      });
    }
  },
);

t.test('an environment that is no key set stops the start, and is not quoted', async (t) => {
  for (const text of [
    '{}',
    '[]',
    'null',
    '{"keys":{}}',
    '{"keys":[null]}',
    'canary',
    '{"keys":[]}',
    '\ufeff{"keys":[]}',
    'ftp://canary/',
  ]) {
    try {
      createRuntime({ env: { ...environment([root]), NNUMBERS_IDENTITY_JWKS: text } });
      t.fail(`${text} was taken`);
    } catch (error) {
      t.ok(error instanceof ConfigurationError, text);
      t.notMatch(String((error as Error).stack), /canary/);
    }
  }
});

t.test('a usable key may say what it is for, and hold more than is asked', async (t) => {
  for (const changes of [
    { use: 'sig' },
    { alg: 'ES256' },
    { key_ops: ['verify'] },
    { key_ops: ['sign', 'verify'] },
    { x5t: 'unused', nbf: 1 },
  ]) {
    const store = startStore({ environmentKeys: [changed(root, changes)] });
    store.answer(() => keySet(changed(b1, changes)));
    t.equal(await store.verdict(hourLong(root)), 'person ana-0001');
    t.equal(await store.verdict(hourLong(b1)), 'person ana-0001');
  }
});

t.test('the key of the environment counts, not a key of the broker with its ID', async (t) => {
  const usurper = makeKey('root');
  const store = startStore({ environmentKeys: [root] });
  store.answer(() => keySet(usurper, b1));
  const warnings = collectEvents('nn-runtime:keys.warning');
  t.equal(await store.verdict(hourLong(b1)), 'person ana-0001');
  warnings.stop();
  t.strictSame(warnings.events, [{ source: 'broker', problem: 'shadowed-key-id' }]);
  t.equal(await store.verdict(hourLong(usurper)), '401 signature');
  const seen = hourLong(root);
  t.equal(await store.verdict(seen), 'person ana-0001');
  t.equal(await store.verdict(seen), 'person ana-0001', 'also as a verified identity');
});

t.test('a key of the environment that left the broker stays: it is the trust root', async (t) => {
  const store = startStore({ environmentKeys: [root] });
  store.answer(() => keySet(root, b1));
  await store.verdict(hourLong(b1));
  store.answer(() => keySet(b1));
  store.pass(300);
  const refreshed = nextEvent('nn-runtime:keys.refreshed');
  await store.verdict(hourLong(b1));
  await refreshed;
  t.equal(await store.verdict(hourLong(root)), 'person ana-0001');
});

for (const [name, twins] of [
  ['two', [b1, makeKey('b1')]],
  ['two (one of them twice)', [b1, makeKey('b1'), b1]],
] as const) {
  t.test(`${name} different keys of one ID: that ID is refused, with a warning`, async (t) => {
    const neighbour = makeKey('neighbour');
    const warnings = collectEvents('nn-runtime:keys.warning');
    const ours = startStore({ environmentKeys: [...twins, neighbour] });
    t.strictSame(warnings.events, [{ source: 'environment', problem: 'conflicting-key-id' }]);
    t.equal(await ours.verdict(hourLong(neighbour)), 'person ana-0001');
    warnings.events.length = 0;
    const theirs = startStore({ environmentKeys: [root] });
    theirs.answer(() => keySet(...twins, neighbour));
    t.equal(await theirs.verdict(hourLong(neighbour)), 'person ana-0001');
    warnings.stop();
    t.strictSame(warnings.events, [{ source: 'broker', problem: 'conflicting-key-id' }]);
    for (const key of twins) {
      t.equal(await ours.verdict(hourLong(key)), UNAVAILABLE);
      t.equal(await theirs.verdict(hourLong(key)), UNKNOWN);
    }
  });
}

t.test('identical copies of a key are one key, without a warning', async (t) => {
  const warnings = collectEvents('nn-runtime:keys.warning');
  const store = startStore({ environmentKeys: [root, changed(root, { use: 'sig' })] });
  store.answer(() => keySet(b1, b1, changed(b1, { alg: 'ES256' })));
  t.equal(await store.verdict(hourLong(root)), 'person ana-0001');
  t.equal(await store.verdict(hourLong(b1)), 'person ana-0001');
  warnings.stop();
  t.strictSame(warnings.events, []);
  t.match(store.runtime.status(), { environmentKeys: 1, brokerKeys: 1 });
});

t.test('an unusable copy does not spoil a usable key of the same ID', async (t) => {
  const store = startStore({ environmentKeys: [root] });
  store.answer(() =>
    keySet(foreign('b1', 'ed25519'), b1, changed(makeKey('b1'), { use: 'enc' }), privateJwk(b1)),
  );
  t.equal(await store.verdict(hourLong(b1)), 'person ana-0001');
});

t.test('keys that a token brings or points at are never used, nor asked for', async (t) => {
  const store = startStore({ environmentKeys: [root] });
  store.answer(() => keySet(b1));
  const thief = makeKey('root');
  const pointers = {
    jwk: thief.jwk,
    jku: 'http://thief.example/jwks',
    x5u: 'http://thief.example/cert',
    x5c: ['AAAA'],
  };
  t.equal(await store.verdict(token(thief, {}, pointers)), '401 signature');
  t.equal(await store.verdict(token(thief, {}, { ...pointers, kid: 'thief' })), UNKNOWN);
  t.strictSame(
    store.calls.map((call) => call.url),
    ['http://broker.example/v1/jwks'],
  );
  t.equal(await store.verdict(token(root, {}, pointers)), 'person ana-0001', 'they are ignored, not refused');
});

t.test('an address in the environment is asked instead of the broker, under the same rules', async (t) => {
  for (const url of ['https://keys.example/set.json?tenant=1', ' HTTP://keys.example/set.json']) {
    const store = startStore({ env: { NNUMBERS_IDENTITY_JWKS: url } });
    t.equal(store.calls.length, 0, 'nothing is asked before it is needed');
    store.answer(() => keySet(b1));
    t.equal(await store.verdict(hourLong(b1)), 'person ana-0001');
    t.strictSame(
      store.calls.map((call) => [call.url.trim(), call.init.redirect]),
      [[url.trim(), 'error']],
    );
    t.match(store.runtime.status(), { environmentKeys: 0, brokerKeys: 1 });
    store.answer(() => keySet(makeKey('b2')));
    store.pass(900);
    t.equal(await store.verdict(hourLong(b1)), UNKNOWN, 'it has no keys without expiry');
  }
});

t.test('two runtimes share no keys', async (t) => {
  const one = startStore({ environmentKeys: [root] });
  const other = startStore({ environmentKeys: [makeKey('root')] });
  one.answer(() => keySet(b1));
  const compact = hourLong(b1);
  t.equal(await one.verdict(compact), 'person ana-0001');
  t.equal(await other.verdict(compact), UNAVAILABLE);
  t.equal(await other.verdict(hourLong(root)), '401 signature');
});

t.test('key IDs that an object has by itself are key IDs like others', async (t) => {
  for (const kid of ['__proto__', 'constructor', 'hasOwnProperty', ' ', '~'.repeat(128)]) {
    const key = makeKey(kid);
    const store = startStore({ environmentKeys: [root] });
    const compact = signParts(
      key,
      JSON.stringify({ alg: 'ES256', typ: 'nn-identity+jwt', kid }),
      claimsText(root),
    );
    t.equal(await store.verdict(compact), UNAVAILABLE);
    store.pass(1);
    store.answer(() => keySet(key));
    t.equal(await verdictOf(store.runtime, compact), 'person ana-0001', kid);
  }
});

function claimsText(key: SigningKey): string {
  return Buffer.from(token(key).split('.')[1] ?? '', 'base64url').toString();
}
