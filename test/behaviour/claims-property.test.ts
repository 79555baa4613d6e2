import { createRuntime, isPerson } from '@nn-runtime/core';
import t from 'tap';
import fc from '../property.js';
import { APP_ID, claims, environment, headerOf, makeKey, NOW_MS, ORG_ID, signParts } from '../tokens.js';

// Claims are read by one schema; here is what the contract and design I4 and I5 say, once more and in other words.

const key = makeKey('k1');
const runtime = createRuntime({ env: environment([key]), now: () => NOW_MS, maxIdentities: 0 });
t.teardown(() => runtime.close());
const NOW = 1_796_040_000;

type Payload = Record<string, unknown>;

const isText = (value: unknown): boolean => typeof value === 'string' && value !== '';
const isSeconds = (value: unknown): boolean =>
  typeof value === 'number' && value >= 0 && value <= 8_640_000_000_000;
const mayBe = (type: string) => (value: unknown) =>
  value === undefined || value === null || typeof value === type;

/** Whether somebody is signed in by these claims. */
function isSomebody(payload: Payload): boolean {
  const { iss, aud, org, iat, nbf, exp } = payload;
  const audience = Array.isArray(aud) && aud.length === 1 ? aud[0] : aud;
  if (iss !== 'https://identity.nnumbers.example' || audience !== APP_ID || org !== ORG_ID) return false;
  if (!['sub', 'jti', 'sid', 'iam', 'org_slug'].every((name) => isText(payload[name]))) return false;
  if (![iat, nbf, exp].every(isSeconds)) return false;
  const [issued, from, until] = [iat, nbf, exp] as [number, number, number];
  if (issued >= until || until - issued > 3_600) return false;
  if (!['name', 'email', 'preferred_username'].every((name) => mayBe('string')(payload[name]))) return false;
  return mayBe('boolean')(payload.email_verified) && NOW < until + 60 && NOW >= from - 60;
}

const oddTime = fc.oneof(
  fc.integer({ min: NOW - 4_000, max: NOW + 4_000 }),
  fc.constantFrom(
    -1,
    NOW,
    NOW + 300,
    NOW - 60,
    NOW - 59,
    NOW + 60,
    NOW + 61,
    NOW + 3_600,
    NOW + 3_601,
    0,
    -0,
    1.5,
    8_640_000_000_001,
  ),
);
const odd = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom(
    '',
    ' ',
    APP_ID,
    ORG_ID,
    [APP_ID],
    [[APP_ID]],
    [APP_ID, APP_ID],
    `${APP_ID} `,
    null,
    true,
    'true',
    0,
  ),
  oddTime,
);
const change = fc.record({
  name: fc.constantFrom(
    ...['iss', 'aud', 'org', 'org_slug', 'sub', 'jti', 'sid', 'iam', 'name', 'email', 'email_verified'],
    ...['preferred_username', 'iat', 'nbf', 'exp', 'groups', '__proto__', 'constructor'],
  ),
  // Absent, often: a claim that is missing is the plainest of faults.
  value: fc.oneof({ weight: 1, arbitrary: fc.constant(undefined) }, { weight: 4, arbitrary: odd }),
});

const timeChange = fc.record({ name: fc.constantFrom('iat', 'nbf', 'exp'), value: oddTime });

t.test('whatever the claims are, somebody is signed in exactly when every rule holds', async (t) => {
  const verdicts = { somebody: 0, nobody: 0 };
  await fc.assert(
    fc.asyncProperty(fc.array(fc.oneof(change, timeChange), { maxLength: 3 }), async (changes) => {
      const members = Object.entries(claims()).filter(
        ([name]) => !changes.some((each) => each.name === name),
      );
      for (const { name, value } of changes) if (value !== undefined) members.push([name, value]);
      // By hand: an object literal would make `__proto__` a prototype.
      const text = `{${members.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`).join()}}`;
      const payload = JSON.parse(text) as Payload;
      const expected = isSomebody(payload);
      const seen = await runtime.authenticate(signParts(key, JSON.stringify(headerOf(key)), text)).then(
        ({ identity }) => isPerson(identity),
        () => false,
      );
      verdicts[expected ? 'somebody' : 'nobody'] += 1;
      if (seen !== expected) throw new Error(`${text}: ${seen}`);
    }),
    { numRuns: 1_500 },
  );
  t.ok(verdicts.somebody > 200 && verdicts.nobody > 200, JSON.stringify(verdicts));
});
