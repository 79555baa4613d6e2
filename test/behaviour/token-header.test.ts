import { createHmac, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import type { RefusalReason } from '@nn-runtime/core';
import t from 'tap';
import { answerJson, startScriptedBroker } from '../broker.js';
import { doors } from '../doors.js';
import { base64url, claims, environment, headerOf, makeKey, NOW_MS, signParts, token } from '../tokens.js';

/** What a JOSE header may say, and with which key it may be signed (reference cases 17 to 29, 41, 52). */

const key = makeKey('k1');
const brokerKey = makeKey('kb');
const attacker = makeKey('k1');

type Expected = RefusalReason | 'person';
const good = token(key);
const [goodHead = '', goodPayload = '', goodSignature = ''] = good.split('.');
const claimsText = JSON.stringify(claims());
const withHeader = (changes: Record<string, unknown>): string => token(key, {}, changes);
const withHeaderText = (text: string | Uint8Array): string => signParts(key, text, claimsText);
const headerText = JSON.stringify(headerOf(key));
const unsigned = (header: unknown, signature = ''): string =>
  `${base64url(JSON.stringify(header))}.${goodPayload}.${signature}`;

// Keys of other kinds, published by the broker under their own IDs, and tokens they sign properly.
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const p384 = generateKeyPairSync('ec', { namedCurve: 'P-384' });
const secp256k1 = generateKeyPairSync('ec', { namedCurve: 'secp256k1' });
const ed25519 = generateKeyPairSync('ed25519');
const x25519 = generateKeyPairSync('x25519');
const misfits = {
  enc: makeKey('enc'),
  signOnly: makeKey('sign-only'),
  es384: makeKey('es384-alg'),
  withoutId: makeKey(''),
  secret: makeKey('secret'),
};
const published = {
  keys: [
    brokerKey.jwk,
    { ...rsa.publicKey.export({ format: 'jwk' }), kid: 'rsa' },
    { ...p384.publicKey.export({ format: 'jwk' }), kid: 'p384' },
    { ...secp256k1.publicKey.export({ format: 'jwk' }), kid: 'k256' },
    { ...ed25519.publicKey.export({ format: 'jwk' }), kid: 'ed' },
    { ...x25519.publicKey.export({ format: 'jwk' }), kid: 'x25519' },
    { kty: 'oct', k: base64url('a shared secret'), kid: 'oct' },
    { kty: 'AKP', alg: 'ML-DSA-44', pub: base64url('no such key'), kid: 'akp' },
    { kty: 'EC', crv: 'P-256', x: 'A'.repeat(43), y: 'A'.repeat(43), kid: 'off-curve' },
    { kty: 'EC', crv: 'P-256', x: '!', y: '!', kid: 'garbage' },
    { ...misfits.enc.jwk, use: 'enc' },
    { ...misfits.signOnly.jwk, key_ops: ['sign'] },
    { ...misfits.es384.jwk, alg: 'ES384' },
    misfits.withoutId.jwk,
    { ...misfits.secret.privateKey.export({ format: 'jwk' }), kid: 'secret' },
    null,
    'kb',
    [],
    {},
  ],
};

function signedBy(privateKey: KeyObject, hash: string | null, alg: string, kid: string): string {
  const input = `${base64url(JSON.stringify({ alg, typ: 'nn-identity+jwt', kid }))}.${goodPayload}`;
  return `${input}.${base64url(sign(hash, Buffer.from(input), { key: privateKey, dsaEncoding: 'ieee-p1363' }))}`;
}

function hmac(hash: string, alg: string, secret: string | Buffer): string {
  const input = `${base64url(JSON.stringify(headerOf(key, { alg })))}.${goodPayload}`;
  return `${input}.${createHmac(hash, secret).update(input).digest('base64url')}`;
}

const jwkText = JSON.stringify(key.jwk);
const point = Buffer.from(String(key.jwk.x), 'base64url');
const deeply = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
const withMember = (member: string): string => withHeaderText(`${headerText.slice(0, -1)},${member}}`);

const cases: readonly (readonly [name: string, value: string, expected: Expected])[] = [
  ['a key of the environment', good, 'person'],
  ['a key of the broker', token(brokerKey), 'person'],
  ['an unknown member', withHeader({ cty: 'json', 'x-new': [1] }), 'person'],

  ['alg none without signature', unsigned(headerOf(key, { alg: 'none' })), 'malformed'],
  ['alg none with a signature', withHeader({ alg: 'none' }), 'algorithm'],
  ['alg None', withHeader({ alg: 'None' }), 'algorithm'],
  ['alg nOnE', withHeader({ alg: 'nOnE' }), 'algorithm'],
  [
    'alg none with the signature of another header',
    unsigned(headerOf(key, { alg: 'none' }), goodSignature),
    'algorithm',
  ],
  ['no alg', withHeader({ alg: undefined }), 'algorithm'],
  ['alg null', withHeader({ alg: null }), 'algorithm'],
  ['alg as an array', withHeader({ alg: ['ES256'] }), 'algorithm'],
  ['alg as an object', withHeader({ alg: { 0: 'ES256' } }), 'algorithm'],
  ['alg es256', withHeader({ alg: 'es256' }), 'algorithm'],
  ['alg with a space', withHeader({ alg: 'ES256 ' }), 'algorithm'],
  ['alg with a NUL', withHeader({ alg: 'ES256\0' }), 'algorithm'],
  ['alg ESP256', withHeader({ alg: 'ESP256' }), 'algorithm'],
  ['HS256 keyed with x', hmac('sha256', 'HS256', point), 'malformed'],
  ['HS512 keyed with x', hmac('sha512', 'HS512', point), 'algorithm'],
  ['HS512 keyed with the JWK', hmac('sha512', 'HS512', jwkText), 'algorithm'],
  ['ES256 over an HMAC keyed with the JWK', hmac('sha512', 'ES256', jwkText), 'signature'],
  ['ES256 over an HMAC keyed with x', hmac('sha512', 'ES256', point), 'signature'],
  ['RS256 of a published key', signedBy(rsa.privateKey, 'sha256', 'RS256', 'rsa'), 'malformed'],
  ['ES384 of a published key', signedBy(p384.privateKey, 'sha384', 'ES384', 'p384'), 'malformed'],
  ['ES256K of a published key', signedBy(secp256k1.privateKey, 'sha256', 'ES256K', 'k256'), 'algorithm'],
  ['EdDSA of a published key', signedBy(ed25519.privateKey, null, 'EdDSA', 'ed'), 'algorithm'],
  ['EdDSA called ES256', signedBy(ed25519.privateKey, null, 'ES256', 'ed'), 'unknown-key'],
  ['ES256K called ES256', signedBy(secp256k1.privateKey, 'sha256', 'ES256', 'k256'), 'unknown-key'],
  ['a signature of another hash', signedBy(key.privateKey, 'sha384', 'ES256', 'k1'), 'signature'],
  ['a shared secret published', token(makeKey('oct')), 'unknown-key'],
  ['a point off the curve', token(makeKey('off-curve')), 'unknown-key'],
  ['a key for encryption', token(misfits.enc), 'unknown-key'],
  ['a key that only signs', token(misfits.signOnly), 'unknown-key'],
  ['a P-256 key for ES384', token(misfits.es384), 'unknown-key'],
  ['a key published with its private part', token(misfits.secret), 'unknown-key'],

  ['no typ', withHeader({ typ: undefined }), 'type'],
  ['typ JWT', withHeader({ typ: 'JWT' }), 'type'],
  ['typ at+jwt', withHeader({ typ: 'at+jwt' }), 'type'],
  ['typ as a number', withHeader({ typ: 1 }), 'type'],
  ['typ as an array', withHeader({ typ: ['nn-identity+jwt'] }), 'type'],
  ['typ null', withHeader({ typ: null }), 'type'],
  ['typ empty', withHeader({ typ: '' }), 'type'],
  ['typ application/nn-identity+jwt', withHeader({ typ: 'application/nn-identity+jwt' }), 'type'],
  ['typ application/NN-Identity+JWT', withHeader({ typ: 'application/NN-Identity+JWT' }), 'type'],
  ['typ NN-IDENTITY+JWT', withHeader({ typ: 'NN-IDENTITY+JWT' }), 'type'],
  ['typ with a parameter', withHeader({ typ: 'nn-identity+jwt;v=1' }), 'type'],

  ['crit of an extension', withHeader({ crit: ['exp'], exp: 1 }), 'critical'],
  ['crit empty', withHeader({ crit: [] }), 'critical'],
  ['crit null', withHeader({ crit: null }), 'critical'],
  ['crit false', withHeader({ crit: false }), 'critical'],
  ['crit b64, the payload as it is', withHeader({ crit: ['b64'], b64: true }), 'critical'],

  ['no kid', withHeader({ kid: undefined }), 'key-id'],
  ['kid empty', withHeader({ kid: '' }), 'key-id'],
  ['kid empty, and a published key without one', token(misfits.withoutId), 'key-id'],
  ['kid as a number', withHeader({ kid: 1 }), 'key-id'],
  ['kid as an array', withHeader({ kid: ['k1'] }), 'key-id'],
  ['kid null', withHeader({ kid: null }), 'key-id'],
  ['kid as an object', withHeader({ kid: { toString: 'k1' } }), 'key-id'],
  ['kid with a NUL', withHeader({ kid: 'k1\0' }), 'key-id'],
  ['kid with a line feed', withHeader({ kid: 'k1\nx-evil: 1' }), 'key-id'],
  ['kid beyond ASCII', withHeader({ kid: 'k\u00b9' }), 'key-id'],
  ['kid of 129 characters', withHeader({ kid: 'k'.repeat(129) }), 'key-id'],
  ['kid of 5 KB', withHeader({ kid: 'k'.repeat(5_000) }), 'key-id'],
  ['kid of 128 characters', withHeader({ kid: 'k'.repeat(128) }), 'unknown-key'],
  ['kid ../../x', withHeader({ kid: '../../x' }), 'unknown-key'],
  ['kid with a query', withHeader({ kid: 'k1?' }), 'unknown-key'],
  ['kid in upper case', withHeader({ kid: 'K1' }), 'unknown-key'],
  ['kid with a space', withHeader({ kid: 'k1 ' }), 'unknown-key'],
  ['kid __proto__', withHeader({ kid: '__proto__' }), 'unknown-key'],
  ['kid constructor', withHeader({ kid: 'constructor' }), 'unknown-key'],
  ['kid toString', withHeader({ kid: 'toString' }), 'unknown-key'],

  ['jwk of the attacker', token(attacker, {}, { jwk: attacker.jwk }), 'signature'],
  [
    'jwk of the attacker under its own kid',
    token(attacker, {}, { kid: 'evil', jwk: attacker.jwk }),
    'unknown-key',
  ],
  ['jku of the attacker', token(attacker, {}, { jku: 'http://127.0.0.1:9/evil' }), 'signature'],
  ['x5u of the attacker', token(attacker, {}, { x5u: 'http://127.0.0.1:9/evil' }), 'signature'],
  ['x5c of the attacker', token(attacker, {}, { x5c: ['MIIB'] }), 'signature'],
  [
    'jku and jwk beside a good signature',
    withHeader({ jku: 'http://127.0.0.1:9/evil', jwk: attacker.jwk }),
    'person',
  ],

  ['alg twice, the last one right', withHeaderText(`{"alg":"none",${headerText.slice(1)}`), 'person'],
  ['alg twice, the last one wrong', withMember('"alg":"none"'), 'algorithm'],
  ['kid twice, the last one unknown', withMember('"kid":"zz"'), 'unknown-key'],
  [
    'alg under another spelling of its name',
    withHeaderText(headerText.replace('"alg"', '"\\u0061lg"')),
    'person',
  ],
  [
    'alg in __proto__ only',
    withHeaderText(`{"__proto__":{"alg":"ES256"},"typ":"nn-identity+jwt","kid":"k1"}`),
    'algorithm',
  ],
  ['crit in __proto__', withMember('"__proto__":{"crit":[]}'), 'person'],
  ['an array as header', withHeaderText(`[${headerText}]`), 'malformed'],
  ['a string as header', withHeaderText('"ES256"'), 'malformed'],
  ['null as header', withHeaderText('null'), 'malformed'],
  ['a number as header', withHeaderText('1'), 'malformed'],
  ['text behind the header', withHeaderText(`${headerText}x`), 'malformed'],
  ['two headers', withHeaderText(headerText + headerText), 'malformed'],
  ['a header cut short', withHeaderText(headerText.slice(0, -1)), 'malformed'],
  ['single quotes', withHeaderText(headerText.replaceAll('"', "'")), 'malformed'],
  ['a comment', withHeaderText(`${headerText}//`), 'malformed'],
  ['a BOM before the header', withHeaderText(`\ufeff${headerText}`), 'malformed'],
  ['a header in UTF-16', withHeaderText(Buffer.from(headerText, 'utf16le')), 'malformed'],
  [
    'invalid UTF-8',
    withHeaderText(
      Buffer.concat([
        Buffer.from(`${headerText.slice(0, -1)},"a":"`),
        Buffer.from([0xc3, 0x28]),
        Buffer.from('"}'),
      ]),
    ),
    'malformed',
  ],
  [
    'an overlong slash',
    withHeaderText(
      Buffer.concat([
        Buffer.from(`${headerText.slice(0, -1)},"a":"`),
        Buffer.from([0xc0, 0xaf]),
        Buffer.from('"}'),
      ]),
    ),
    'malformed',
  ],
  [
    'a surrogate in UTF-8',
    withHeaderText(
      Buffer.concat([
        Buffer.from(`${headerText.slice(0, -1)},"a":"`),
        Buffer.from([0xed, 0xa0, 0x80]),
        Buffer.from('"}'),
      ]),
    ),
    'malformed',
  ],
  ['blanks around the header', withHeaderText(` \n${headerText}\t`), 'person'],
  ['brackets 2,000 deep', withMember(`"a":${deeply(2_000)}`), 'person'],

  ['the signature of another key under k1', token(attacker), 'signature'],
  ['the signature of the broker key under k1', token({ ...brokerKey, kid: 'k1' }), 'signature'],
  [
    'the header of another good token',
    `${token(brokerKey).split('.')[0]}.${goodPayload}.${goodSignature}`,
    'signature',
  ],
  [
    'the payload of another good token',
    `${goodHead}.${token(key, { sub: 'eva' }).split('.')[1]}.${goodSignature}`,
    'signature',
  ],
  [
    'the signature of another good token',
    `${goodHead}.${goodPayload}.${token(key).split('.')[2]}`,
    'signature',
  ],
];

for (const door of doors) {
  t.test(door.name, async (t) => {
    const broker = await startScriptedBroker();
    broker.onKeys(answerJson(200, published));
    const asked: string[] = [];
    const fetchRecorded: typeof fetch = (input, init) => {
      asked.push(String(input));
      return fetch(input, init);
    };
    const env = environment([key], broker.url);
    const open = await door.open({ env, now: () => NOW_MS, fetch: fetchRecorded });
    t.teardown(async () => {
      await open.close();
      await broker.close();
    });
    for (const [name, value, expected] of cases) {
      const { status, outcome } = await open.ask(value);
      t.strictSame(
        { status, outcome },
        { status: expected === 'person' ? 200 : 401, outcome: expected },
        name,
      );
    }
    t.strictSame(
      [...new Set(asked)],
      [`${broker.url}/v1/jwks`],
      'whatever a header says, only the configured address is asked, and no kid is in it',
    );
    // One for the broker's own key, then the three of the flood budget at most.
    t.ok(asked.length <= 4, `${asked.length} questions`);
  });

  t.test(`${door.name}: a header that is wrong in itself asks nobody for keys`, async (t) => {
    const broker = await startScriptedBroker();
    const open = await door.open({ env: environment([key], broker.url), now: () => NOW_MS });
    t.teardown(async () => {
      await open.close();
      await broker.close();
    });
    for (const [name, value, expected] of cases) {
      if (['unknown-key', 'person', 'signature'].includes(expected)) continue;
      t.equal((await open.ask(value)).outcome, expected, name);
    }
    t.equal(broker.requests.length, 0);
  });
}
