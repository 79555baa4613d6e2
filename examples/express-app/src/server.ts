import { createServer } from 'node:http';
import { createRuntime } from '@nn-runtime/core';
import { createNyxdbEdge } from '@nn-runtime/nyxdb-edge';
import { live } from '@nn-runtime-examples/live';
import { endOnSignal } from '@nn-runtime-examples/shutdown';
import { createApp } from './app.js';

const runtime = createRuntime();
const server = createServer(createApp(runtime));
const edge = createNyxdbEdge({ runtime, ...live }).attach(server);
endOnSignal(server, () => edge.drain());

// Loopback only: requests reach the application through the platform's edge.
server.listen(Number(process.env.PORT ?? 3001), '127.0.0.1', () => {
  const address = server.address();
  if (typeof address === 'object') console.log(`Express listens on http://127.0.0.1:${address?.port}`);
});
