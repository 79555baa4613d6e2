import { createServer } from 'node:http';
import { createRuntime } from '@nn-runtime/core';
import { createNyxdbEdge } from '@nn-runtime/nyxdb-edge';
import { live } from '@nn-runtime-examples/live';
import { createApp } from './app.js';

const runtime = createRuntime();
const server = createServer(createApp(runtime));
const edge = createNyxdbEdge({ runtime, ...live }).attach(server);

// A client that keeps its connection would keep the process: once that is ending, each answer is its connection's last.
server.prependListener('request', ({ socket }, response) => {
  if (server.listening) response.once('finish', () => server.listening || socket.end());
  else response.setHeader('connection', 'close');
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => void edge.drain().then(() => server.close()));
}

// Loopback only: requests reach the application through the platform's edge.
server.listen(Number(process.env.PORT ?? 3001), '127.0.0.1', () => {
  const address = server.address();
  if (typeof address === 'object') console.log(`Express listens on http://127.0.0.1:${address?.port}`);
});
