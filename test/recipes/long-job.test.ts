import type { AddressInfo } from 'node:net';
import { createReportApp } from '@nn-runtime-examples/recipes/long-job';
import t from 'tap';
import { BRAZIL, startScriptedBroker } from '../broker.js';
import { ask } from '../http.js';
import { environment, makeKey, NOW_MS, token } from '../tokens.js';

const key = makeKey('k1');

t.test('a report goes on after its request, past the identity’s end, and is its owner’s alone', async (t) => {
  const broker = await startScriptedBroker();
  const clock = { nowMs: NOW_MS };
  let answer = (): void => undefined;
  const asked = new Promise<void>((heard) => {
    broker.onQuery((_request, response) => {
      answer = () => void response.setHeader('content-type', 'application/json').end(JSON.stringify(BRAZIL));
      heard();
    });
  });
  const app = await createReportApp({ env: environment([key], broker.url), now: () => clock.nowMs });
  t.teardown(async () => {
    await app.close();
    await broker.close();
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
  const as = (sub: string): { 'x-nnumbers-identity': string } => {
    const iat = Math.floor(clock.nowMs / 1000);
    return { 'x-nnumbers-identity': token(key, { sub, iat, nbf: iat, exp: iat + 300 }) };
  };

  t.equal((await ask(`${url}/reports`, { method: 'POST' })).status, 401, 'not for nobody');
  const begun = await ask(`${url}/reports`, { method: 'POST', headers: as('ana-0001') });
  t.equal(begun.status, 202);
  const report = `${url}${begun.headers.location}`;
  await asked;
  clock.nowMs += 10 * 60_000;
  t.match((await ask(report, { headers: as('ana-0001') })).json(), { state: 'running' });
  answer();
  let read: { state?: string; result?: unknown } = {};
  for (let reads = 0; read.state !== 'done' && reads < 1_000; reads += 1) {
    read = (await ask(report, { headers: as('ana-0001') })).json() as typeof read;
  }
  t.match(read, { state: 'done', result: { rows: [['BRAZIL', 1]] } });
  t.equal((await ask(report, { headers: as('bruno-0002') })).status, 404, 'not for others');
  t.equal((await ask(report)).status, 404, 'not for nobody');
});
