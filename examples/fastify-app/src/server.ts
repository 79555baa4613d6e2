import { endOnSignal } from '@nn-runtime-examples/shutdown';
import { createApp } from './app.js';

const app = await createApp();
endOnSignal(app.server, () => app.close());

// Loopback only: requests reach the application through the platform's edge.
const address = await app.listen({ host: '127.0.0.1', port: Number(process.env.PORT ?? 3000) });
console.log(`Fastify listens on ${address}`);
