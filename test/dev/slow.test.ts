import { startPlatform } from '@nn-runtime/dev';
import t, { type Test } from 'tap';
import { ask } from './fixtures/http.js';

const platform = await startPlatform({ apps: [{ id: 'shop' }] });
t.teardown(() => platform.close());
const { identity } = await platform.signIn('ana@example.org');

const keys = () => ask(`${platform.brokerUrl}/v1/jwks`);
const query = () =>
  ask(`${platform.brokerUrl}/v1/querymesh/query`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-nnumbers-identity': identity },
    body: '{"sql":"SELECT 1 AS one"}',
  });

/** Takes the platform's ten seconds into the test's hand: resolves, once something waits for them, to what ends the wait. */
const tenSeconds = (t: Test): Promise<() => void> => {
  const real = globalThis.setTimeout;
  return new Promise((resolve) => {
    const value = (...call: Parameters<typeof real>) => {
      const [work, ms] = call;
      if (ms !== 10_000) return real(...call);
      return void resolve(() => work());
    };
    t.intercept(globalThis, 'setTimeout', { value, configurable: true, writable: true });
  });
};

for (const [fault, request, what] of [
  ['broker', keys, 'the keys'],
  ['broker', query, 'a query'],
  ['jwks', keys, 'the keys'],
  ['queryMesh', query, 'a query'],
] as const)
  t.test(`a slow ${fault} answers ${what} after ten seconds, and holds up nothing else`, async (t) => {
    t.teardown(() => platform.faults.set({ broker: 'up', jwks: 'up', queryMesh: 'up' }));
    platform.faults.set({ [fault]: 'slow' });
    const waiting = tenSeconds(t);
    let answered = false;
    const answer = request().finally(() => {
      answered = true;
    });
    const end = await waiting;
    t.equal((await ask(`${platform.brokerUrl}/dev/state`)).status, 200);
    t.equal(answered, false);
    end();
    t.equal((await answer).status, 200);
  });
