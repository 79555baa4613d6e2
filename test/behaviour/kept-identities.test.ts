import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { createRuntime, isPerson, type Runtime, type RuntimeOptions } from '@nn-runtime/core';
import t, { type Test } from 'tap';
import { answerKeys, type ScriptedBroker, startScriptedBroker } from '../broker.js';
import { environment, makeKey, NOW_MS, token, twin } from '../tokens.js';

/** Verified identities are kept, bounded, and never longer than they are valid (design I10). That one dies with its key: test/core/keys-freshness. */

const key = makeKey('k1');
const now = NOW_MS / 1000;

interface Scene {
  readonly runtime: Runtime;
  readonly broker: ScriptedBroker;
  readonly clock: { nowMs: number };
  /** `new` or `kept`, for each person since this was last asked. */
  verified(): string[];
  /** The subject, or the reason it is refused for. */
  who(header: string): Promise<string>;
}

async function scene(t: Test, options: RuntimeOptions = {}): Promise<Scene> {
  const broker = await startScriptedBroker();
  const clock = { nowMs: NOW_MS };
  const runtime = createRuntime({ env: environment([key], broker.url), now: () => clock.nowMs, ...options });
  const events: string[] = [];
  const listener = (event: unknown): void =>
    void events.push((event as { cached: boolean }).cached ? 'kept' : 'new');
  subscribe('nn-runtime:identity.verified', listener);
  t.teardown(async () => {
    unsubscribe('nn-runtime:identity.verified', listener);
    await runtime.close();
    await broker.close();
  });
  return {
    runtime,
    broker,
    clock,
    verified: () => events.splice(0),
    who: (header) =>
      runtime.authenticate(header).then(
        ({ identity }) => (isPerson(identity) ? identity.subject : identity.kind),
        (error: { reason?: string; code: string }) => error.reason ?? error.code,
      ),
  };
}

t.test('a token seen again is not verified again, and is the same caller', async (t) => {
  const { runtime, verified } = await scene(t);
  const ana = token(key);
  const first = await runtime.authenticate(ana);
  t.equal(await runtime.authenticate(ana), first);
  t.equal(await runtime.authenticate([ana]), first);
  t.strictSame(verified(), ['new', 'kept', 'kept']);
});

t.test('one token a hundred times at once is verified once', async (t) => {
  const { runtime, verified } = await scene(t);
  const ana = token(key);
  const callers = await Promise.all(Array.from({ length: 100 }, () => runtime.authenticate(ana)));
  t.equal(new Set(callers).size, 1);
  t.strictSame(verified().sort(), [...Array(99).fill('kept'), 'new'], 'and each of them is an event');
});

t.test('at most maxIdentities are kept, least recently used out first', async (t) => {
  const { runtime, verified, who } = await scene(t, { maxIdentities: 3 });
  const [a = '', b = '', c = '', d = ''] = ['a', 'b', 'c', 'd'].map((sub) => token(key, { sub }));
  for (const header of [a, b, c, a, d]) await who(header);
  t.equal(runtime.status().identities, 3);
  t.strictSame(verified(), ['new', 'new', 'new', 'kept', 'new']);
  for (const header of [a, c, d, b]) await who(header);
  t.strictSame(verified(), ['kept', 'kept', 'kept', 'new'], 'b was the one to go');
  for (let index = 0; index < 200; index += 1) await who(token(key, { sub: `x${index}` }));
  t.equal(runtime.status().identities, 3);
});

t.test('maxIdentities of zero keeps nobody, and everybody is still somebody', async (t) => {
  const { runtime, verified, who } = await scene(t, { maxIdentities: 0 });
  const ana = token(key);
  t.equal(await who(ana), 'ana-0001');
  t.equal(await who(ana), 'ana-0001');
  t.strictSame(verified(), ['new', 'new']);
  t.equal(runtime.status().identities, 0);
});

t.test('a refusal is never kept', async (t) => {
  const { runtime, broker, clock, who } = await scene(t);
  const k2 = makeKey('k2');
  const tomorrow = token(key, { iat: now + 600, nbf: now + 600, exp: now + 900 });
  const bad = token(makeKey('k1'));
  broker.onKeys(answerKeys(makeKey('kb')));
  t.equal(await who(bad), 'signature');
  t.equal(await who(bad), 'signature');
  t.equal(await who(token(k2)), 'unknown-key');
  t.equal(await who(tomorrow), 'not-yet-valid');
  t.equal(await who(token(key, { sub: '' })), 'claims');
  t.equal(runtime.status().identities, 0);
  clock.nowMs = (now + 600) * 1000;
  t.equal(await who(tomorrow), 'ana-0001');
  broker.onKeys(answerKeys(k2));
  t.equal(await who(token(k2, { iat: now + 600, nbf: now + 600, exp: now + 900 })), 'ana-0001');
});

t.test('a kept identity that ended makes room', async (t) => {
  const { runtime, clock, who } = await scene(t);
  const ana = token(key);
  t.equal(await who(ana), 'ana-0001');
  clock.nowMs = NOW_MS + 360_000;
  t.equal(await who(ana), 'expired');
  t.equal(runtime.status().identities, 0);
});

t.test('another token under the signature of a kept one is refused and evicts nobody', async (t) => {
  const { verified, who } = await scene(t);
  const ana = token(key);
  const [head, , signature] = ana.split('.');
  const forged = `${head}.${token(key, { sub: 'eva' }).split('.')[1]}.${signature}`;
  t.equal(await who(ana), 'ana-0001');
  t.equal(await who(forged), 'signature');
  t.equal(await who(ana), 'ana-0001');
  t.strictSame(verified(), ['new', 'kept']);
});

t.test('the twin of a signature is the same identity, not another use or person', async (t) => {
  const { runtime } = await scene(t);
  const ana = token(key, { jti: 'once' });
  const [first, second] = await Promise.all([runtime.authenticate(ana), runtime.authenticate(twin(ana))]);
  t.not(twin(ana), ana);
  t.strictSame(JSON.parse(JSON.stringify(second.identity)), JSON.parse(JSON.stringify(first.identity)));
  t.match(second.identity, { subject: 'ana-0001', tokenId: 'once' });
});
