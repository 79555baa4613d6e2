/**
 * One relay in a process of its own: `edge-process.ts edge|plain ENGINE_URL ORIGIN`, with the NNUMBERS_* variables. Prints its port, then
 * its memory in bytes for each line it is sent. Ends with its standard input.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createRuntime } from '@nn-runtime/core';
import { createNyxdbEdge } from '@nn-runtime/nyxdb-edge';
import { WebSocket, WebSocketServer } from 'ws';

const [, , kind, upstream = '', origin = ''] = process.argv;
const server = createServer();
if (kind === 'edge') {
  createNyxdbEdge({
    runtime: createRuntime(),
    path: '/live',
    upstream,
    origins: [origin],
    engineRequiresAuth: true,
    limits: { socketsPerPerson: 10_000 },
  }).attach(server);
} else {
  // The least a relay can do: no check, no bound, no end.
  const relay = new WebSocketServer({ server, perMessageDeflate: false });
  relay.on('connection', (client) => {
    const engine = new WebSocket(upstream, { perMessageDeflate: false });
    client.on('error', () => {}).on('message', (data) => engine.send(data as Buffer));
    engine.on('error', () => {}).on('message', (data) => client.send(data as Buffer));
    client.pause();
    engine.once('open', () => client.resume());
    client.on('close', () => engine.terminate());
    engine.on('close', () => client.terminate());
  });
}
server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port));
process.stdin.on('data', () => {
  globalThis.gc?.();
  console.log(process.memoryUsage().rss);
});
process.stdin.on('end', () => process.exit());
