import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createSocketApp } from '@nn-runtime-examples/recipes/websocket';
import t, { type Test } from 'tap';
import WebSocket from 'ws';
import { startScriptedBroker } from '../broker.js';
import { environment, makeKey, NOW_MS, token } from '../tokens.js';

const key = makeKey('k1');

async function start(t: Test): Promise<string> {
  const broker = await startScriptedBroker();
  const app = await createSocketApp({ env: environment([key], broker.url), now: () => NOW_MS });
  t.teardown(async () => {
    await app.close();
    await broker.close();
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  return `ws://127.0.0.1:${(app.server.address() as AddressInfo).port}/names`;
}

t.test('a person’s socket asks on behalf of that person', async (t) => {
  const url = await start(t);
  const socket = new WebSocket(url, {
    headers: { 'x-nnumbers-identity': token(key, { sub: 'bruno-0002' }) },
  });
  await once(socket, 'open');
  socket.send('names');
  const [message] = await once(socket, 'message');
  t.match(JSON.parse(String(message)), { for: 'bruno-0002', rows: [['BRAZIL', 1]] });
  socket.terminate();
});

t.test('nobody else gets a socket', async (t) => {
  const url = await start(t);
  for (const [headers, status] of [
    [{}, 401],
    [{ 'x-nnumbers-identity': '' }, 401],
    [{ 'x-nnumbers-identity': token(makeKey('k1')) }, 401],
  ] as const) {
    const socket = new WebSocket(url, { headers });
    const [, response] = await once(socket, 'unexpected-response');
    t.equal((response as { statusCode: number }).statusCode, status);
    (response as { destroy(): void }).destroy();
  }
});
