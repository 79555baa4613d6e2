import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { createRuntime, type RuntimeOptions } from '@nn-runtime/core';
import t, { type Test } from 'tap';
import { answerJson, answerKeys, type ScriptedBroker, startScriptedBroker } from '../broker.js';
import { overEach } from '../clients.js';
import { environment, makeKey, NOW_MS, token } from '../tokens.js';

/** `runtime.status()` and `runtime.close()`. */

const environmentKey = makeKey('k1');
const brokerKey = makeKey('k2');

async function withBroker(t: Test): Promise<{ broker: ScriptedBroker; options: RuntimeOptions }> {
  const broker = await startScriptedBroker();
  broker.onKeys(answerKeys(brokerKey));
  t.teardown(() => broker.close());
  return { broker, options: { env: environment([environmentKey], broker.url), now: () => NOW_MS } };
}

t.test('status tells of keys and identities, by numbers alone', async (t) => {
  const { broker, options } = await withBroker(t);
  let nowMs = NOW_MS;
  const runtime = createRuntime({ ...options, now: () => nowMs, random: () => 0 });
  t.teardown(() => runtime.close());
  t.strictSame(runtime.status(), { environmentKeys: 1, brokerKeys: 0, lastRefresh: 'never', identities: 0 });

  await runtime.authenticate(token(environmentKey));
  t.strictSame(runtime.status(), { environmentKeys: 1, brokerKeys: 0, lastRefresh: 'never', identities: 1 });

  await runtime.authenticate(token(brokerKey));
  const known = { environmentKeys: 1, brokerKeys: 1, lastRefresh: 'ok', identities: 2 };
  t.strictSame(runtime.status(), { ...known, brokerKeysAgeSeconds: 0 });

  nowMs += 59_999;
  t.strictSame(runtime.status(), { ...known, brokerKeysAgeSeconds: 59 });

  broker.onKeys(answerJson(500, {}));
  await t.rejects(runtime.authenticate(token(makeKey('k3'))), { code: 'IDENTITY_ASSERTION_INVALID' });
  t.strictSame(runtime.status(), { ...known, brokerKeysAgeSeconds: 59, lastRefresh: 'failed' });

  broker.onKeys(answerKeys(brokerKey, makeKey('k4'), makeKey('k5')));
  nowMs += 1_000;
  await t.rejects(runtime.authenticate(token(makeKey('k6'))), { code: 'IDENTITY_ASSERTION_INVALID' });
  t.strictSame(runtime.status(), { ...known, brokerKeys: 3, brokerKeysAgeSeconds: 0 });

  nowMs = NOW_MS - 5_000;
  t.equal(runtime.status().brokerKeysAgeSeconds, 0, 'a clock set back makes no negative age');

  const status = runtime.status();
  Object.assign(status, { brokerKeys: 99 });
  t.equal(runtime.status().brokerKeys, 3, 'and each answer is its own');
});

t.test('after close nobody is authenticated, nobody is anonymous, and nobody is asked', async (t) => {
  const { broker, options } = await withBroker(t);
  const runtime = createRuntime(options);
  const good = token(brokerKey);
  await runtime.authenticate(good);
  const asked = broker.requests.length;
  await runtime.close();
  await runtime.close();
  for (const header of [good, token(environmentKey), 'junk', '', undefined, [], [good, good]]) {
    await t.rejects(runtime.authenticate(header), {
      name: 'IdentityUnavailableError',
      code: 'APPLICATION_IDENTITY_NOT_READY',
      statusCode: 503,
      headers: { 'retry-after': '5', 'cache-control': 'no-store' },
    });
  }
  t.equal(broker.requests.length, asked);
  t.equal(runtime.status().identities, 0);
});

t.test('close keeps nothing of a verification that was under way', async (t) => {
  const runtime = createRuntime({ env: environment([environmentKey]), now: () => NOW_MS });
  const underWay = runtime.authenticate(token(environmentKey));
  await runtime.close();
  await underWay.catch(() => undefined);
  t.equal(runtime.status().identities, 0);
});

overEach('close ends a question for keys, and whoever waits for it', async (t, client) => {
  const { broker, options } = await withBroker(t);
  const asked = new Promise<ServerResponse>((resolve) =>
    broker.onKeys((_request, response) => resolve(response)),
  );
  const runtime = createRuntime({ ...options, ...client });
  const waiting = [1, 2, 3].map(() => runtime.authenticate(token(brokerKey)));
  const hangUp = once(await asked, 'close');
  await runtime.close();
  for (const one of waiting) await t.rejects(one, { name: 'IdentityUnavailableError' });
  await hangUp;
  t.pass('the broker sees the connection go');
});

overEach('close ends the queries in flight, and a caller of before asks nothing more', async (t, client) => {
  const { broker, options } = await withBroker(t);
  const asked = new Promise<ServerResponse>((resolve) =>
    broker.onQuery((_request, response) => resolve(response)),
  );
  const runtime = createRuntime({ ...options, ...client });
  const { queryMesh } = await runtime.authenticate(token(environmentKey));
  const query = queryMesh('SELECT 1');
  const refused = t.rejects(query, { name: 'QueryMeshError', code: 'QUERYMESH_ABORTED' });
  const hangUp = once(await asked, 'close');
  await runtime.close();
  await refused;
  await hangUp;
  const count = broker.requests.length;
  await t.rejects(queryMesh('SELECT 1'), { code: 'QUERYMESH_ABORTED' });
  t.equal(broker.requests.length, count);
});
