import type { RefusalReason } from '@nn-runtime/core';
import t from 'tap';
import { startScriptedBroker } from '../broker.js';
import { doors } from '../doors.js';
import { claims, environment, headerOf, makeKey, NOW_MS, signParts, token } from '../tokens.js';

/** Properly signed claims that are right or wrong in one thing (reference cases 28 to 39, and section 2b). */

const key = makeKey('k1');
const now = NOW_MS / 1000;
const header = JSON.stringify(headerOf(key));
const good = JSON.stringify(claims({ jti: 'j1' }));
const raw = (payload: string | Uint8Array): string => signParts(key, header, payload);
/** The good claims with JSON text put in front or behind: what JSON.stringify cannot write. */
const first = (members: string): string => raw(`{${members},${good.slice(1)}`);
const last = (members: string): string => raw(`${good.slice(0, -1)},${members}}`);
const deeply = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
const inString = (...bytes: number[]): string =>
  raw(Buffer.concat([Buffer.from(`${good.slice(0, -1)},"x":"`), Buffer.from(bytes), Buffer.from('"}')]));

type Expected = RefusalReason | 'person';
type Row = readonly [name: string, value: string, expected: Expected];
const change = (name: string, changes: Record<string, unknown>, expected: Expected): Row => [
  `${name} ${JSON.stringify(changes)}`,
  token(key, changes),
  expected,
];
const without = (claim: string, expected: RefusalReason): Row => [
  `no ${claim}`,
  token(key, { [claim]: undefined }),
  expected,
];

const NOT_TEXT = ['', 7, 0, true, null, {}, ['x'], []] as const;
const NOT_A_TIME = ['soon', '', String(now + 300), true, false, null, {}, [], [now], -1, -0.5] as const;

const cases: readonly Row[] = [
  ['the claims of the contract', token(key), 'person'],
  ['an unknown claim', token(key, { groups: ['a', 'b'], act: { sub: 'x' } }), 'person'],

  without('iss', 'issuer'),
  change('iss', { iss: 'https://identity.nnumbers.example/' }, 'issuer'),
  change('iss', { iss: 'https://IDENTITY.nnumbers.example' }, 'issuer'),
  change('iss', { iss: 'http://identity.nnumbers.example' }, 'issuer'),
  change('iss', { iss: 'https://identity.nnumbers.example.evil.example' }, 'issuer'),
  change('iss', { iss: ' https://identity.nnumbers.example' }, 'issuer'),
  change('iss', { iss: ['https://identity.nnumbers.example'] }, 'issuer'),
  ...NOT_TEXT.map((iss) => change('iss', { iss }, 'issuer')),

  without('aud', 'audience'),
  change('aud', { aud: ['app-7f3a'] }, 'person'),
  change('aud', { aud: 'app-other' }, 'audience'),
  change('aud', { aud: 'app-7f3' }, 'audience'),
  change('aud', { aud: 'app-7f3a2' }, 'audience'),
  change('aud', { aud: 'xapp-7f3a' }, 'audience'),
  change('aud', { aud: 'APP-7F3A' }, 'audience'),
  change('aud', { aud: 'app-7f3a ' }, 'audience'),
  change('aud', { aud: 'app-7f3a,app-other' }, 'audience'),
  change('aud', { aud: 'other app-7f3a' }, 'audience'),
  change('aud', { aud: ['app-other'] }, 'audience'),
  change('aud', { aud: ['app-other', 'app-7f3a'] }, 'audience'),
  change('aud', { aud: ['app-7f3a', 'app-other'] }, 'audience'),
  change('aud', { aud: ['app-7f3a', 'app-7f3a'] }, 'audience'),
  change('aud', { aud: ['app-7f3a', 5, null] }, 'audience'),
  change('aud', { aud: [['app-7f3a']] }, 'audience'),
  change('aud', { aud: { 0: 'app-7f3a', length: 1 } }, 'audience'),
  ...NOT_TEXT.map((aud) => change('aud', { aud }, 'audience')),

  without('org', 'organization'),
  change('org', { org: 'org-other' }, 'organization'),
  change('org', { org: 'ORG-51C2' }, 'organization'),
  change('org', { org: ['org-51c2'] }, 'organization'),
  ...NOT_TEXT.map((org) => change('org', { org }, 'organization')),

  ...['sub', 'jti', 'sid', 'iam', 'org_slug'].flatMap((claim) => [
    without(claim, 'claims'),
    ...NOT_TEXT.map((value) => change(claim, { [claim]: value }, 'claims')),
  ]),

  ...['iat', 'nbf', 'exp'].flatMap((claim) => [
    without(claim, 'claims'),
    ...NOT_A_TIME.map((value) => change(claim, { [claim]: value }, 'claims')),
  ]),
  ['exp of 1e999', last('"exp":1e999'), 'claims'],
  ['exp of 1e308', last('"exp":1e308'), 'claims'],
  ['nbf of -1e999', last('"nbf":-1e999'), 'claims'],
  ['iat of 1e999', last('"iat":1e999'), 'claims'],
  change('exp that is no date any more', { exp: 8_640_000_000_001 }, 'claims'),
  change('exp in milliseconds', { exp: NOW_MS + 300_000 }, 'lifetime'),
  change('nbf in milliseconds', { nbf: NOW_MS }, 'not-yet-valid'),
  change('iat in milliseconds', { iat: NOW_MS }, 'claims'),
  change('exp with a fraction', { exp: now + 299.5 }, 'person'),
  change('iat and nbf of zero', { iat: 0, nbf: 0 }, 'lifetime'),
  change('iat at exp', { iat: now + 300 }, 'claims'),
  change('iat past exp', { iat: now + 301 }, 'claims'),
  change('iat just before exp', { iat: now + 299 }, 'person'),
  change('a lifetime of an hour', { exp: now + 3_600 }, 'person'),
  change('a lifetime of an hour and a second', { exp: now + 3_601 }, 'lifetime'),
  change('an iat an hour and a second before exp', { iat: now - 3_301 }, 'lifetime'),
  change('ten years', { exp: now + 315_360_000 }, 'lifetime'),
  // The contract's checks of time are nbf and exp; iat only bounds the lifetime.
  change('iat of ten minutes ahead', { iat: now + 600, exp: now + 900 }, 'person'),
  change('expired long ago', { iat: now - 900, nbf: now - 900, exp: now - 600 }, 'expired'),
  change('of tomorrow', { iat: now + 86_400, nbf: now + 86_400, exp: now + 86_700 }, 'not-yet-valid'),

  ...['name', 'email', 'preferred_username'].flatMap((claim) => [
    change('absent', { [claim]: undefined }, 'person'),
    change('null', { [claim]: null }, 'person'),
    ...[1, true, {}, ['x']].map((value) => change(claim, { [claim]: value }, 'claims')),
  ]),
  change('absent', { email_verified: undefined }, 'person'),
  change('null', { email_verified: null }, 'person'),
  change('false', { email_verified: false }, 'person'),
  ...['true', 'false', '', 1, 0, {}, [true]].map((value) =>
    change('email_verified', { email_verified: value }, 'claims'),
  ),

  ['aud twice, the last one right', first('"aud":"app-other"'), 'person'],
  ['aud twice, the last one wrong', last('"aud":"app-other"'), 'audience'],
  ['sub twice, the last one empty', last('"sub":""'), 'claims'],
  ['a claim under an escaped name', raw(good.replace('"aud"', '"\\u0061ud"')), 'person'],
  [
    'sub in __proto__ only',
    raw(good.replace('"sub":"ana-0001"', '"__proto__":{"sub":"ana-0001"}')),
    'claims',
  ],
  ['exp in __proto__ only', raw(good.replace(/"exp":\d+/, `"__proto__":{"exp":${now + 300}}`)), 'claims'],
  ['a __proto__ beside', last('"__proto__":{"kind":"person","admin":true}'), 'person'],
  ['a constructor beside', last('"constructor":{"prototype":{"admin":true}}'), 'person'],
  ['a toJSON beside', last('"toJSON":"x"'), 'person'],

  ['an array', raw(`[${good}]`), 'claims'],
  ['an empty array', raw('[]'), 'claims'],
  ['an empty object', raw('{}'), 'issuer'],
  ['a string', raw('"x"'), 'claims'],
  ['a string of JSON', raw(JSON.stringify(good)), 'claims'],
  ['null', raw('null'), 'claims'],
  ['a number', raw('1'), 'claims'],
  ['no JSON', raw('sub=ana-0001'), 'claims'],
  ['text behind', raw(`${good} x`), 'claims'],
  ['two objects', raw(good + good), 'claims'],
  ['cut short', raw(good.slice(0, -1)), 'claims'],
  ['a trailing comma', raw(`${good.slice(0, -1)},}`), 'claims'],
  ['a BOM', raw(`\ufeff${good}`), 'claims'],
  ['UTF-16', raw(Buffer.from(good, 'utf16le')), 'claims'],
  ['blanks around', raw(`\r\n ${good}\t`), 'person'],
  ['invalid UTF-8', inString(0xc3, 0x28), 'claims'],
  ['a lone continuation byte', inString(0x80), 'claims'],
  ['an overlong encoding', inString(0xc0, 0xaf), 'claims'],
  ['a surrogate in UTF-8', inString(0xed, 0xa0, 0x80), 'claims'],
  ['beyond U+10FFFF', inString(0xf4, 0x90, 0x80, 0x80), 'claims'],
  ['a byte cut off', inString(0xe2, 0x82), 'claims'],
  ['a raw control character', inString(0x00), 'claims'],
  ['brackets 700 deep', last(`"x":${deeply(700)}`), 'person'],
];

for (const door of doors) {
  t.test(door.name, async (t) => {
    const broker = await startScriptedBroker();
    const open = await door.open({ env: environment([key], broker.url), now: () => NOW_MS });
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

    const bodyOf = async (value: string): Promise<Record<string, unknown>> =>
      (await open.ask(value)).body as Record<string, unknown>;

    t.test('a claim that is null is absent, in claims it is what was signed', async (t) => {
      const nulls = { name: null, email: null, email_verified: null, preferred_username: null };
      const person = await bodyOf(token(key, nulls));
      for (const name of ['name', 'email', 'emailVerified', 'preferredUsername']) {
        t.notOk(name in person, name);
      }
      t.match(person.claims, nulls);
    });

    t.test('of a member written twice the last one counts', async (t) => {
      t.match(await bodyOf(first('"sub":"eva"')), { subject: 'ana-0001', claims: { sub: 'ana-0001' } });
      t.match(await bodyOf(last('"sub":"eva"')), { subject: 'eva', claims: { sub: 'eva' } });
    });

    t.test('text comes out as it was signed', async (t) => {
      for (const name of ['', ' Ana ', 'Zoë 木 \u{1f9ed}', '<b>', 'a\0b', '\ud800', 'e\u0301', '\u202eana']) {
        t.equal((await bodyOf(token(key, { name }))).name, name, JSON.stringify(name));
      }
      t.equal((await bodyOf(last('"sub":"\\ud83e\\udded"'))).subject, '\u{1f9ed}', 'an escaped pair');
      t.equal((await bodyOf(last('"sub":"\\ud83e"'))).subject, '\ud83e', 'half a pair');
    });

    t.test('a member called __proto__ is a claim like any other and changes nobody', async (t) => {
      const person = await bodyOf(last('"__proto__":{"admin":true}'));
      t.equal(person.admin, undefined);
      t.ok(Object.hasOwn(person.claims as object, '__proto__'));
      t.equal(({} as Record<string, unknown>).admin, undefined);
    });

    t.test('dates are those that were signed', async (t) => {
      const person = await bodyOf(token(key, { iat: now - 10, nbf: now - 5, exp: now + 290.25 }));
      t.equal(person.issuedAt, '2026-11-30T11:59:50.000Z');
      t.equal(person.expiresAt, '2026-11-30T12:04:50.250Z');
    });
  });

  for (const [clockToleranceSeconds, given] of [
    [undefined, 60],
    [60, 60],
    [1.5, 1.5],
    [0, 0],
  ] as const) {
    t.test(
      `${door.name}: a tolerance of ${given} s, ${clockToleranceSeconds === undefined ? 'by default' : 'set'}, to the millisecond`,
      async (t) => {
        let nowMs = NOW_MS;
        const open = await door.open({ env: environment([key]), now: () => nowMs, clockToleranceSeconds });
        t.teardown(() => open.close());
        // Each moment is tried with a token never seen, and with one that is kept from when it was valid.
        const at = async (
          ms: number,
          kept: string,
          changes: Record<string, unknown> = {},
        ): Promise<unknown[]> => {
          nowMs = NOW_MS;
          const before = (await open.ask(kept)).outcome;
          nowMs = ms;
          return [before, (await open.ask(token(key, changes))).outcome, (await open.ask(kept)).outcome];
        };
        const expMs = NOW_MS + 300_000 + given * 1000;
        t.strictSame(
          await at(expMs - 1, token(key)),
          ['person', 'person', 'person'],
          'a millisecond before its end',
        );
        t.strictSame(await at(expMs, token(key)), ['person', 'expired', 'expired'], 'at its end');
        t.strictSame(
          await at(expMs + 1000, token(key)),
          ['person', 'expired', 'expired'],
          'a second past its end',
        );
        const nbfMs = NOW_MS - given * 1000;
        t.strictSame(await at(nbfMs, token(key)), ['person', 'person', 'person'], 'at its beginning');
        t.strictSame(
          await at(nbfMs - 1, token(key)),
          ['person', 'not-yet-valid', 'not-yet-valid'],
          'a millisecond before',
        );
        nowMs = NOW_MS;
        t.equal((await open.ask(token(key))).outcome, 'person', 'and again when the clock is right');
      },
    );
  }
}
