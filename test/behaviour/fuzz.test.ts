import { createRuntime, type RefusalReason, RuntimeError } from '@nn-runtime/core';
import { compactVerify, createLocalJWKSet } from 'jose';
import t from 'tap';
import { answerKeys, startScriptedBroker } from '../broker.js';
import { frameworks } from '../frameworks.js';
import { seededRandom } from '../random.js';
import { RawConnection, requestText } from '../raw-http.js';
import { environment, makeKey, NOW_MS, twin } from '../tokens.js';

/**
 * 10,000 mutations of one good token (reference case 69): nobody but its own person comes of them, nothing breaks, and the verdict is
 * that of jose's compactVerify except where a written rule is stricter.
 */

const SEED = 20_261_130;
const COUNT = 10_000;
const CHARACTERS_OF_TOKENS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.';

// Literal, so that the seed repeats every mutation: made once by test/tokens.ts with a key that nobody has kept.
const jwk = {
  kty: 'EC',
  crv: 'P-256',
  x: 'QeBWeNchM9RYaiknHkdUpyjSRxCIZ4bzgJ5BhSTbKn4',
  y: '-Z6qKBKLQBdTSjPmR8ZtHzo875NV417MtcjfQNA-O2g',
  kid: 'k1',
};
const good = [
  'eyJhbGciOiJFUzI1NiIsInR5cCI6Im5uLWlkZW50aXR5K2p3dCIsImtpZCI6ImsxIn0.',
  'eyJpc3MiOiJodHRwczovL2lkZW50aXR5Lm5udW1iZXJzLmV4YW1wbGUiLCJhdWQiOiJhcHAtN2YzYSIsImp0aSI6Im',
  'oxIiwic3ViIjoiYW5hLTAwMDEiLCJvcmciOiJvcmctNTFjMiIsIm9yZ19zbHVnIjoiYWNtZSIsImlhbSI6Imh0dHBz',
  'Oi8vaWFtLmFjbWUuZXhhbXBsZSIsInNpZCI6InNlc3Npb24tMDAwMSIsIm5hbWUiOiJBbmEgU291emEiLCJlbWFpbC',
  'I6ImFuYUBleGFtcGxlLm9yZyIsImVtYWlsX3ZlcmlmaWVkIjp0cnVlLCJwcmVmZXJyZWRfdXNlcm5hbWUiOiJhbmEi',
  'LCJpYXQiOjE3OTYwNDAwMDAsIm5iZiI6MTc5NjA0MDAwMCwiZXhwIjoxNzk2MDQwMzAwfQ.',
  'qTq607rpYSoWc9EjjbTz9WXlh4BeC3Jwvt6ah1k3-EjdRpBdDfVHUvI2Yn1YzyG5onTJp9AqJ-G7ze9dXeb7xA',
].join('');
const other = [
  'eyJhbGciOiJFUzI1NiIsInR5cCI6Im5uLWlkZW50aXR5K2p3dCIsImtpZCI6ImsxIn0.',
  'eyJpc3MiOiJodHRwczovL2lkZW50aXR5Lm5udW1iZXJzLmV4YW1wbGUiLCJhdWQiOiJhcHAtN2YzYSIsImp0aSI6Im',
  'oyIiwic3ViIjoiYmVhLTAwMDIiLCJvcmciOiJvcmctNTFjMiIsIm9yZ19zbHVnIjoiYWNtZSIsImlhbSI6Imh0dHBz',
  'Oi8vaWFtLmFjbWUuZXhhbXBsZSIsInNpZCI6InNlc3Npb24tMDAwMSIsIm5hbWUiOiJBbmEgU291emEiLCJlbWFpbC',
  'I6ImFuYUBleGFtcGxlLm9yZyIsImVtYWlsX3ZlcmlmaWVkIjp0cnVlLCJwcmVmZXJyZWRfdXNlcm5hbWUiOiJhbmEi',
  'LCJpYXQiOjE3OTYwNDAwMDAsIm5iZiI6MTc5NjA0MDAwMCwiZXhwIjoxNzk2MDQwMzAwfQ.',
  '8IBV1JuNBSKZeLTaBy9CtarxXN9ZqM1Ks4bmHIwQ5LToX-sbDwcuOHZjcv0a8DoFAW2q3nwD01kPbZ2-BHH6JQ',
].join('');
const allowed = new Set([good, twin(good)]);

const random = seededRandom(SEED);
const mutations: readonly [(text: string) => string, ...((text: string) => string)[]] = [
  // One bit of one byte.
  (text) =>
    edit(text, 1, (was) => String.fromCharCode((was.charCodeAt(0) ^ (1 << random.integer(8))) & 0xff)),
  // Another character of the alphabet.
  (text) => edit(text, 1, () => character()),
  // Any byte.
  (text) => edit(text, 1, () => String.fromCharCode(random.integer(256))),
  // A cut in the middle, or of an end.
  (text) => edit(text, 1 + random.integer(12), () => ''),
  (text) => text.slice(0, random.integer(text.length)),
  (text) => text.slice(1 + random.integer(text.length - 1)),
  // An insertion of any byte, or of a character.
  (text) => edit(text, 0, () => String.fromCharCode(random.integer(256))),
  (text) => edit(text, 0, () => character()),
  // Something at an end.
  (text) =>
    text + random.of(['=', '==', ' ', '\t', '\n', '\r\n', '.', 'A', 'g', '%00', ',', ';', '\0', '\u00a0']),
  (text) => random.of([' ', '\t', '\n', '.', '=', 'Bearer ', '\ufeff', '"', ',']) + text,
  // The last character, where spare bits are.
  (text) => text.slice(0, -1) + character(),
  // A stretch written twice, moved, reversed, or put in upper case.
  (text) => edit(text, 1 + random.integer(20), (was) => was + was),
  (text) => edit(text, 2 + random.integer(20), (was) => [...was].reverse().join('')),
  (text) => edit(text, 1 + random.integer(20), (was) => was.toUpperCase()),
  // The other base64 alphabet.
  (text) => text.replaceAll('-', '+').replaceAll('_', '/'),
  (text) => edit(text, 0, () => random.of(['+', '/', '-', '_', '='])),
  // Parts exchanged, within the token and with another person's.
  (text) => mix(text.split('.'), text.split('.')),
  (text) => mix(text.split('.'), other.split('.')),
];

function character(): string {
  return CHARACTERS_OF_TOKENS.charAt(random.integer(CHARACTERS_OF_TOKENS.length));
}

function edit(text: string, length: number, change: (was: string) => string): string {
  const at = random.integer(text.length);
  return text.slice(0, at) + change(text.slice(at, at + length)) + text.slice(at + length);
}

function mix(own: readonly string[], others: readonly string[]): string {
  const sources = [...own, ...others];
  return [0, 1, 2]
    .map((part) => (random.integer(2) === 0 ? own[part] : sources[random.integer(sources.length)]))
    .join('.');
}

function mutated(): string {
  let text = random.of([good, good, good, twin(good)]);
  for (let times = 1 + random.integer(2); times > 0 && text.length > 1; times -= 1)
    text = random.of(mutations)(text);
  return text;
}

const tokens = Array.from({ length: COUNT }, () => mutated());

// Where ours is stricter than jose, and the design's words for it. Each is a fact about the text alone.
const STRICTER: Readonly<Record<string, (text: string) => boolean>> = {
  'I2: three unpadded base64url parts, and nothing around or in them': (text) =>
    !/^[\w-]+\.[\w-]+\.[\w-]+$/.test(text),
  'I2: a signature of 86 characters in its one canonical spelling': (text) => {
    const signature = text.slice(text.lastIndexOf('.') + 1);
    return signature.length !== 86 || Buffer.from(signature, 'base64url').toString('base64url') !== signature;
  },
};

const keySet = createLocalJWKSet({ keys: [jwk] });
async function joseAccepts(text: string): Promise<boolean> {
  return compactVerify(text, keySet, { algorithms: ['ES256'] }).then(
    () => true,
    () => false,
  );
}

t.test('directly, against jose', async (t) => {
  const broker = await startScriptedBroker();
  broker.onKeys(answerKeys(makeKey('kb')));
  const runtime = createRuntime({ env: environment([{ jwk }], broker.url), now: () => NOW_MS });
  t.teardown(async () => {
    await runtime.close();
    await broker.close();
  });

  const seen: Record<string, number> = {};
  const count = (what: string): void => {
    seen[what] = (seen[what] ?? 0) + 1;
  };
  const wrong: string[] = [];
  for (const text of tokens) {
    const verdict = await runtime.authenticate(text).then(
      ({ identity }) => (identity.kind === 'person' ? identity.subject : identity.kind),
      (error: unknown) => (error instanceof RuntimeError ? error.statusCode : String(error)),
    );
    const expected = allowed.has(text) ? 'ana-0001' : 401;
    if (verdict !== expected) wrong.push(`${verdict} instead of ${expected}: ${JSON.stringify(text)}`);
    const jose = await joseAccepts(text);
    const rule = Object.keys(STRICTER).find((name) => STRICTER[name]?.(text));
    if (verdict === 401 && jose) {
      if (rule === undefined) wrong.push(`jose accepts, and no rule refuses: ${JSON.stringify(text)}`);
      else count(rule);
    }
    if (verdict !== 401 && !jose) wrong.push(`a person whom jose refuses: ${JSON.stringify(text)}`);
    count(`ours ${verdict}`);
    count(`jose ${jose}`);
  }
  t.strictSame(wrong, []);
  t.equal(tokens.length, 10_000);
  // A fuzz that never met what it is there for would prove nothing.
  t.comment(seen);
  t.ok((seen['ours ana-0001'] ?? 0) > 0, 'some mutations leave the token as it was');
  for (const rule of Object.keys(STRICTER)) t.ok((seen[rule] ?? 0) > 0, `met: ${rule}`);
});

// Over HTTP a parser comes first: it takes blanks off both ends, and lets no control characters through.
const TRAVELS = /^[\t\x20-\x7e\x80-\xff]*$/;
const travelling = tokens.filter((text) => TRAVELS.test(text));
const PIPELINED = 50;

for (const framework of frameworks) {
  t.test(
    `${framework.name}, ${travelling.length} of them, ${PIPELINED} at a time on one connection`,
    async (t) => {
      const broker = await startScriptedBroker();
      broker.onKeys(answerKeys(makeKey('kb')));
      const refused: Partial<Record<RefusalReason, number>> = {};
      const app = await framework.start({
        env: environment([{ jwk }], broker.url),
        now: () => NOW_MS,
        onRefused: ({ reason }) => {
          refused[reason] = (refused[reason] ?? 0) + 1;
        },
      });
      let connection = await RawConnection.open(app.port);
      t.teardown(async () => {
        connection.close();
        await app.close();
        await broker.close();
      });

      const wrong: string[] = [];
      for (let start = 0; start < travelling.length; start += PIPELINED) {
        if (connection.ended) connection = await RawConnection.open(app.port);
        const batch = travelling.slice(start, start + PIPELINED);
        connection.write(batch.map((text) => requestText([`X-NNumbers-Identity: ${text}`])).join(''));
        const answers = await Promise.all(batch.map(() => connection.answer()));
        answers.forEach(({ status, body }, index) => {
          const text = batch[index] ?? '';
          const expected = allowed.has(text.replace(/^[ \t]+|[ \t]+$/g, '')) ? 200 : 401;
          const person = status === 200 ? JSON.parse(body).subject : undefined;
          if (status !== expected || (status === 200 && person !== 'ana-0001')) {
            wrong.push(`${status} instead of ${expected}: ${JSON.stringify(text)}`);
          }
        });
      }
      t.strictSame(wrong, []);
      t.comment(refused);
      t.ok(travelling.length > 8_000);
      t.ok((refused.signature ?? 0) > 100 && (refused.malformed ?? 0) > 100, 'shape and signature both met');
    },
  );
}
