import { createServer } from 'node:http';
import { createApp } from './app.js';

const server = createServer(createApp());

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => server.close());
}

// Loopback only: requests reach the application through the platform's edge.
server.listen(Number(process.env.PORT ?? 3001), '127.0.0.1', () => {
  const address = server.address();
  if (typeof address === 'object') console.log(`Express listens on http://127.0.0.1:${address?.port}`);
});
