import type { RefusalReason } from '@nn-runtime/core';
import t from 'tap';
import { answerKeys, startScriptedBroker } from '../broker.js';
import { doors } from '../doors.js';
import { base64url, environment, makeKey, NOW_MS, token, twin } from '../tokens.js';

/** What is no compact JWS of ES256 in its one spelling, whatever else it may be (reference cases 2, 3, 6, 8, 11, 12, 15). */

const key = makeKey('k1');
const good = token(key);
const [head = '', payload = '', signature = ''] = good.split('.');
const bytes = Buffer.from(signature, 'base64url');
const withSignature = (value: Uint8Array): string => `${head}.${payload}.${base64url(value)}`;
const ZEROS = Buffer.alloc(32);
const ORDER = Buffer.from('ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551', 'hex');

interface Case {
  readonly name: string;
  readonly value: string;
  readonly expected: RefusalReason | 'person';
  /** Where an HTTP parser stands before it: what it makes of the value, or that it lets no such value through. */
  readonly overHttp?: RefusalReason | 'person' | 'never arrives';
}

const cases: readonly Case[] = [
  { name: 'the untouched token', value: good, expected: 'person' },
  { name: 'the (r, n−s) twin', value: twin(good), expected: 'person' },
  { name: 'nothing', value: '', expected: 'empty' },
  { name: 'a space', value: ' ', expected: 'empty' },
  { name: 'spaces and tabs', value: ' \t \t', expected: 'empty' },
  { name: 'a no-break space', value: '\u00a0', expected: 'empty' },
  { name: 'two tokens joined by a comma', value: `${good}, ${good}`, expected: 'repeated' },
  { name: 'nothing joined to a token', value: `, ${good}`, expected: 'repeated' },
  { name: 'a token joined to nothing', value: `${good},`, expected: 'repeated' },
  { name: 'two tokens with a space', value: `${good} ${good}`, expected: 'malformed' },
  { name: 'a Bearer prefix', value: `Bearer ${good}`, expected: 'malformed' },
  { name: 'quotes', value: `"${good}"`, expected: 'malformed' },
  { name: 'a space before', value: ` ${good}`, expected: 'malformed', overHttp: 'person' },
  { name: 'a space behind', value: `${good} `, expected: 'malformed', overHttp: 'person' },
  { name: 'a tab behind', value: `${good}\t`, expected: 'malformed', overHttp: 'person' },
  { name: 'a line feed behind', value: `${good}\n`, expected: 'malformed', overHttp: 'never arrives' },
  { name: 'a NUL behind', value: `${good}\0`, expected: 'malformed', overHttp: 'never arrives' },
  { name: 'a BOM before', value: `\ufeff${good}`, expected: 'malformed', overHttp: 'never arrives' },
  {
    name: 'a full-width dot',
    value: good.replace('.', '\uff0e'),
    expected: 'malformed',
    overHttp: 'never arrives',
  },
  {
    name: 'a byte beyond ASCII',
    value: `${good.slice(0, 20)}\u00e9${good.slice(21)}`,
    expected: 'malformed',
  },
  { name: 'a space within', value: `${good.slice(0, 20)} ${good.slice(20)}`, expected: 'malformed' },
  { name: 'a percent escape', value: good.replace('.', '%2e'), expected: 'malformed' },
  { name: 'one part', value: head, expected: 'malformed' },
  { name: 'two parts', value: `${head}.${payload}`, expected: 'malformed' },
  { name: 'two parts and a dot', value: `${head}.${payload}.`, expected: 'malformed' },
  { name: 'four parts', value: `${good}.${signature}`, expected: 'malformed' },
  {
    name: 'five parts, as a JWE has',
    value: `${head}.${payload}.${signature}.${signature}.${signature}`,
    expected: 'malformed',
  },
  { name: 'two dots', value: '..', expected: 'malformed' },
  { name: 'no header', value: `.${payload}.${signature}`, expected: 'malformed' },
  { name: 'no payload', value: `${head}..${signature}`, expected: 'malformed' },
  { name: 'a dot before', value: `.${good}`, expected: 'malformed' },
  { name: 'a dot behind', value: `${good}.`, expected: 'malformed' },
  {
    name: 'the flattened JSON serialisation',
    value: JSON.stringify({ payload, protected: head, signature }),
    expected: 'repeated',
  },
  { name: 'a JSON string', value: '"x"', expected: 'malformed' },
  { name: 'the signature cut by a character', value: good.slice(0, -1), expected: 'malformed' },
  { name: 'a character more of signature', value: `${good}A`, expected: 'malformed' },
  { name: 'the signature padded', value: `${good}==`, expected: 'malformed' },
  { name: 'the signature padded with one sign', value: `${good}=`, expected: 'malformed' },
  { name: 'the header padded', value: `${head}=.${payload}.${signature}`, expected: 'malformed' },
  { name: 'the payload padded', value: `${head}.${payload}=.${signature}`, expected: 'malformed' },
  { name: 'a + in the header', value: `+${good.slice(1)}`, expected: 'malformed' },
  { name: 'a / in the payload', value: `${head}./${payload.slice(1)}.${signature}`, expected: 'malformed' },
  { name: 'a header of one character', value: `e.${payload}.${signature}`, expected: 'malformed' },
  {
    name: 'a header of 4n+1 characters',
    value: `${'e'.repeat(41)}.${payload}.${signature}`,
    expected: 'malformed',
  },
  {
    name: 'a payload of 4n+1 characters',
    value: `${head}.${'e'.repeat(41)}.${signature}`,
    expected: 'malformed',
  },
  {
    name: 'a signature in DER',
    value: withSignature(Buffer.concat([Buffer.from('30450221', 'hex'), bytes])),
    expected: 'malformed',
  },
  { name: 'a signature of 63 bytes', value: withSignature(bytes.subarray(1)), expected: 'malformed' },
  {
    name: 'a signature of 96 bytes',
    value: withSignature(Buffer.concat([bytes, ZEROS])),
    expected: 'malformed',
  },
  { name: 'r and s of zero', value: withSignature(Buffer.concat([ZEROS, ZEROS])), expected: 'signature' },
  {
    name: 'r of zero',
    value: withSignature(Buffer.concat([ZEROS, bytes.subarray(32)])),
    expected: 'signature',
  },
  {
    name: 's of zero',
    value: withSignature(Buffer.concat([bytes.subarray(0, 32), ZEROS])),
    expected: 'signature',
  },
  {
    name: 'r and s of the group order',
    value: withSignature(Buffer.concat([ORDER, ORDER])),
    expected: 'signature',
  },
  {
    name: 's and r exchanged',
    value: withSignature(Buffer.concat([bytes.subarray(32), bytes.subarray(0, 32)])),
    expected: 'signature',
  },
  { name: 'a bit of the signature', value: withSignature(flip(bytes, 40)), expected: 'signature' },
  { name: '8,192 characters of noise', value: 'x'.repeat(8_192), expected: 'malformed' },
  { name: '8,193 characters of noise', value: 'x'.repeat(8_193), expected: 'too-long' },
  { name: '8,193 blanks', value: ' '.repeat(8_193), expected: 'too-long', overHttp: 'empty' },
  { name: '9 KB with commas', value: 'x,'.repeat(4_500), expected: 'too-long' },
  { name: 'a good token of 8,192 characters', value: tokenOfLength(8_192), expected: 'person' },
  { name: 'a good token of 8,193 characters', value: tokenOfLength(8_193), expected: 'too-long' },
  { name: 'a good token of 9 KB', value: tokenOfLength(9_216), expected: 'too-long' },
];

const STATUS = (outcome: string): number => (outcome === 'person' ? 200 : 401);
const BASE64URL = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

for (const door of doors) {
  t.test(door.name, async (t) => {
    const broker = await startScriptedBroker();
    broker.onKeys(answerKeys(makeKey('kb')));
    const open = await door.open({ env: environment([key], broker.url), now: () => NOW_MS });
    t.teardown(async () => {
      await open.close();
      await broker.close();
    });

    for (const { name, value, expected, overHttp } of cases) {
      const wanted = door.overHttp ? (overHttp ?? expected) : expected;
      if (wanted === 'never arrives') continue;
      const { status, outcome, body } = await open.ask(value);
      t.strictSame({ status, outcome }, { status: STATUS(wanted), outcome: wanted }, name);
      if (wanted !== 'person') {
        t.strictSame(
          body,
          { code: 'IDENTITY_ASSERTION_INVALID', message: 'The identity of this request does not check out.' },
          `${name}: the answer says no more than that`,
        );
      }
    }

    t.test('a signature has one last character: of 64, one is right and 63 are refused', async (t) => {
      const right = good.slice(-1);
      for (const last of BASE64URL) {
        const { outcome } = await open.ask(good.slice(0, -1) + last);
        // Four spare bits: A, Q, g and w spell another signature, the other sixty spell no signature.
        const wanted = last === right ? 'person' : 'AQgw'.includes(last) ? 'signature' : 'malformed';
        t.equal(outcome, wanted, `last character ${last}`);
      }
    });

    t.test('none of it asked anybody for keys', async (t) => {
      t.equal(broker.requests.length, 0);
    });
  });
}

function flip(value: Buffer, index: number): Buffer {
  const changed = Buffer.from(value);
  changed[index] = (changed[index] ?? 0) ^ 1;
  return changed;
}

// Base64url grows in steps of 4, 3 and 2 characters: the length is met exactly or the fixture is wrong.
function tokenOfLength(length: number): string {
  for (let headPad = 0; headPad < 3; headPad += 1) {
    const extra = { pad: 'h'.repeat(headPad) };
    const bare = token(key, { jti: 'long', fill: '' }, extra).length;
    const guess = Math.floor(((length - bare) * 3) / 4);
    for (let fill = guess - 3; fill <= guess + 3; fill += 1) {
      const candidate = token(key, { jti: 'long', fill: 'f'.repeat(fill) }, extra);
      if (candidate.length === length) return candidate;
    }
  }
  throw new Error(`no token of ${length} characters`);
}
