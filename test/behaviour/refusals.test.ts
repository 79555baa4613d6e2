import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { createRuntime, type RefusalReason, RuntimeError, type RuntimeOptions } from '@nn-runtime/core';
import t, { type Test } from 'tap';
import { answerKeys, startScriptedBroker } from '../broker.js';
import { frameworks } from '../frameworks.js';
import { environment, makeKey, NOW_MS, token } from '../tokens.js';

/** Every reason an identity can be refused for is reached, told once, and told to the application alone (design I12). */

const key = makeKey('k1');
const now = NOW_MS / 1000;
const [head, payload] = token(key).split('.');

const REASONS = {
  repeated: [token(key), token(key)],
  empty: '',
  'too-long': 'x'.repeat(8_193),
  malformed: 'x.y.z',
  algorithm: token(key, {}, { alg: 'HS256' }),
  type: token(key, {}, { typ: 'JWT' }),
  critical: token(key, {}, { crit: ['b64'] }),
  'key-id': token(key, {}, { kid: '' }),
  'unknown-key': token(makeKey('kz')),
  signature: `${head}.${payload}.${'A'.repeat(86)}`,
  claims: token(key, { sub: '' }),
  issuer: token(key, { iss: 'https://other.example' }),
  audience: token(key, { aud: 'app-other' }),
  organization: token(key, { org: 'org-other' }),
  'not-yet-valid': token(key, { nbf: now + 61 }),
  expired: token(key, { iat: now - 400, nbf: now - 400, exp: now - 60 }),
  lifetime: token(key, { exp: now + 3_601 }),
  'keys-unavailable': token(makeKey('kz')),
} satisfies Record<RefusalReason, string | string[]>;
const REJECTED = 'The identity of this request does not check out.';
const UNAVAILABLE = 'The identity of this request cannot be checked right now.';

t.equal(Object.keys(REASONS).length, 18);

interface Told {
  readonly hook: unknown[];
  readonly events: unknown[];
}

/** A broker that has keys, or that is down, and somebody who listens. */
async function listening(t: Test, reason: string): Promise<{ options: RuntimeOptions; told: Told }> {
  const broker = await startScriptedBroker();
  broker.onKeys(answerKeys(makeKey('kb')));
  if (reason === 'keys-unavailable') await broker.close();
  else t.teardown(() => broker.close());
  const told: Told = { hook: [], events: [] };
  const listener = (event: unknown): void => void told.events.push(event);
  subscribe('nn-runtime:identity.refused', listener);
  t.teardown(() => unsubscribe('nn-runtime:identity.refused', listener));
  const onRefused = (refusal: unknown): void => void told.hook.push(refusal);
  return { told, options: { env: environment([key], broker.url), now: () => NOW_MS, onRefused } };
}

for (const [reason, header] of Object.entries(REASONS)) {
  const statusCode = reason === 'keys-unavailable' ? 503 : 401;
  const message = statusCode === 503 ? UNAVAILABLE : REJECTED;
  const code = statusCode === 503 ? 'APPLICATION_IDENTITY_NOT_READY' : 'IDENTITY_ASSERTION_INVALID';

  t.test(`${reason}, directly`, async (t) => {
    const { options, told } = await listening(t, reason);
    const runtime = createRuntime(options);
    t.teardown(() => runtime.close());
    const error = await runtime.authenticate(header).catch((thrown: unknown) => thrown);
    if (!(error instanceof RuntimeError)) throw new Error('no RuntimeError');
    t.match(error, { name: statusCode === 503 ? 'IdentityUnavailableError' : 'IdentityRejectedError' });
    t.strictSame({ ...error.toJSON(), statusCode: error.statusCode }, { code, message, statusCode });
    t.strictSame(told, { hook: [{ reason, statusCode }], events: [{ reason, statusCode }] });
  });

  for (const framework of frameworks) {
    t.test(`${reason}, ${framework.name}`, async (t) => {
      const { options, told } = await listening(t, reason);
      const app = await framework.start(options);
      t.teardown(() => app.close());
      const headers = [header].flat().map((value): [string, string] => ['X-NNumbers-Identity', value]);
      const response = await fetch(`${app.url}/me`, { headers });
      const body = await response.text();
      t.equal(response.status, statusCode);
      t.equal(body, JSON.stringify({ code, message }));
      t.equal(response.headers.get('content-type'), 'application/json; charset=utf-8');
      t.equal(response.headers.get('cache-control'), 'no-store');
      t.equal(response.headers.get('www-authenticate'), statusCode === 401 ? 'NNumbers-Identity' : null);
      t.equal(response.headers.get('retry-after'), statusCode === 503 ? '5' : null);
      t.strictSame(app.handled, []);
      // fetch joins repeated lines into one, which is refused for the comma.
      t.strictSame(told, { hook: [{ reason, statusCode }], events: [{ reason, statusCode }] });
    });
  }
}

t.test('a hook that fails changes nothing, and is heard of without a word of what it threw', async (t) => {
  const failures: Record<string, () => void> = {
    throws: () => {
      throw new Error('secret-of-the-hook');
    },
    // A hook may be an async function: nothing waits for it, and its failure must not end the process.
    rejects: async () => {
      throw new Error('secret-of-the-hook');
    },
  };
  for (const [name, onRefused] of Object.entries(failures)) {
    const warned = new Promise<Error>((resolve) => process.once('warning', resolve));
    const runtime = createRuntime({ env: environment([key]), now: () => NOW_MS, onRefused });
    await t.rejects(runtime.authenticate(''), { code: 'IDENTITY_ASSERTION_INVALID' }, name);
    const warning = await warned;
    t.equal(warning.name, 'NNRuntimeWarning');
    t.notMatch(`${warning.message}${warning.stack}`, 'secret-of-the-hook');
    t.equal((await runtime.authenticate(token(key))).identity.kind, 'person');
    await runtime.close();
  }
});

t.test('several callers of one bad token are told each, and share no error', async (t) => {
  const told: unknown[] = [];
  const runtime = createRuntime({
    env: environment([key]),
    now: () => NOW_MS,
    onRefused: (refusal) => told.push(refusal),
  });
  const bad = `${head}.${payload}.${'A'.repeat(86)}`;
  const errors = await Promise.all(
    [1, 2, 3].map(() => runtime.authenticate(bad).catch((error: unknown) => error)),
  );
  t.equal(told.length, 3);
  t.equal(new Set(errors).size, 3);
  t.equal(new Set(told).size, 3);
  await runtime.close();
});

t.test('what is no header value at all is refused too', async (t) => {
  const runtime = createRuntime({ env: environment([key]), now: () => NOW_MS });
  t.teardown(() => runtime.close());
  const values: unknown[] = [
    null,
    0,
    1,
    true,
    {},
    new Map(),
    () => token(key),
    Symbol('x'),
    [undefined],
    [null],
    [7],
    [[token(key)]],
    new String(token(key)),
    Buffer.from(token(key)),
  ];
  for (const value of values) {
    const refusal = Reflect.apply(runtime.authenticate, runtime, [value]) as Promise<unknown>;
    await t.rejects(refusal, { name: 'IdentityRejectedError' }, String(value));
  }
  t.equal((await runtime.authenticate([])).identity.kind, 'anonymous');
  t.equal((await runtime.authenticate([token(key)])).identity.kind, 'person');
});
