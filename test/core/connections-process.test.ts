import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { node24 } from '@nn-runtime-test/node24';
import t from 'tap';
import { runModule } from '../module-process.js';
import { one, startRawBroker, whole } from '../raw-broker.js';
import { environment, makeKey, NOW_MS, token } from '../tokens.js';
import { cert, key as tlsKey } from './fixtures/broker-certificate.js';

/** What the runtime's connections do to a process, and what the process's environment does to them. */

const key = makeKey('k1');

/** Asks one query in a process of its own, and gives its exit code and output. */
function run(
  source: string,
  brokerUrl: string,
  { env = {}, node }: { env?: Record<string, string>; node?: string } = {},
): Promise<{ code: unknown; out: string }> {
  return runModule(source, { ...environment([key], brokerUrl), TOKEN: token(key), ...env }, node);
}

const asking = `
  import { createRuntime } from '@nn-runtime/core';
  const runtime = createRuntime({ now: () => ${NOW_MS} });
  const { queryMesh } = await runtime.authenticate(process.env.TOKEN);
  await queryMesh('SELECT 1').then(
    (result) => console.log('rows', JSON.stringify(result.rows)),
    (error) => console.log(error.code, error.cause?.message),
  );
`;

t.test('a process that closes its runtime has nothing open any more', async (t) => {
  const broker = await startRawBroker();
  t.teardown(() => broker.close());
  const closing = `${asking}
    await runtime.close();
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    console.log('open', process.getActiveResourcesInfo().filter((kind) => /TCP|TLS|Timeout/.test(kind)).length);
  `;
  t.strictSame(await run(closing, broker.url), { code: 0, out: 'rows [[1]]\nopen 0\n' });
});

t.test('an idle connection keeps no process alive, closed or not', async (t) => {
  // A minute is far past tap's patience with a process that waits for it.
  const broker = await startRawBroker((socket) => socket.write(whole(one(5), ['Keep-Alive: timeout=999'])));
  t.teardown(() => broker.close());
  const timed = `${asking}
    const since = performance.now();
    process.on('exit', () => console.log(performance.now() - since < 10_000 ? 'at once' : 'late'));`;
  t.strictSame(await run(timed, broker.url), { code: 0, out: 'rows [[5]]\nat once\n' });
});

t.test('a certificate must be one the process trusts', async (t) => {
  const server = createServer({ cert, key: tlsKey }, (request, response) => {
    request.resume().on('end', () => response.end(one(6)));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  t.strictSame(await run(asking, url), {
    code: 0,
    out: 'QUERYMESH_UNAVAILABLE DEPTH_ZERO_SELF_SIGNED_CERT\n',
  });
  const folder = mkdtempSync(join(tmpdir(), 'nn-trust-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'broker.pem');
  writeFileSync(file, cert);
  t.strictSame(await run(asking, url, { env: { NODE_EXTRA_CA_CERTS: file } }), {
    code: 0,
    out: 'rows [[6]]\n',
  });
});

t.test('no proxy of the environment is gone through', async (t) => {
  const broker = await startRawBroker();
  t.teardown(() => broker.close());
  // Nothing listens there, and Node 24 has its own `fetch` and its own agents go there when told so.
  const proxy = 'http://127.0.0.1:9';
  const env = { NODE_USE_ENV_PROXY: '1', HTTP_PROXY: proxy, http_proxy: proxy, HTTPS_PROXY: proxy };
  for (const node of [process.execPath, ...[node24() ?? []].flat()]) {
    t.strictSame(await run(asking, broker.url, { env, node }), { code: 0, out: 'rows [[1]]\n' });
  }
});
