import { createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Platform } from '@nn-runtime/dev';
import type { PortOption, Ports } from './options.js';

/** A port is taken; says which option changes it. */
export const busy = (port: number, option: PortOption): Error =>
  new Error(`port ${port} is in use: choose another with --${option}`);

/** Fails when something listens on the port already: an application's own message would not name our option. */
export async function checkFree(ports: Ports, option: PortOption): Promise<void> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(error.code === 'EADDRINUSE' ? busy(ports[option], option) : error),
    );
    server.listen(ports[option], '127.0.0.1', resolve);
  });
  await new Promise((resolve) => server.close(resolve));
}

/** Waits until an application answers HTTP, whatever it says; fails after 30 seconds. */
export async function untilAnswers(url: string, signal: AbortSignal): Promise<void> {
  const deadline = Date.now() + 30_000;
  while (!signal.aborted) {
    const answered = await fetch(url, { signal }).then(
      (response) => response.body?.cancel().then(() => true) ?? true,
      () => false,
    );
    if (answered) return;
    if (Date.now() > deadline) throw new Error(`nothing answers at ${url}`);
    await delay(50, undefined, { signal }).catch(() => undefined);
  }
}

/** What is printed once everything answers. */
export function readyBlock(platform: Platform<'fastify-app' | 'express-app'>, ports: Ports): string {
  const { 'fastify-app': fastify, 'express-app': express } = platform.apps;
  return `ready: two applications behind a local nNumbers platform (for development, not for production)

  Fastify application   ${fastify.url}   (itself on port ${ports['fastify-app-port']})
  Express application   ${express.url}   (itself on port ${ports['express-app-port']})
  broker                ${platform.brokerUrl}
  NYXDB engine          ${platform.nyxdbUrl}
  IAM                   ${platform.iamUrl}

Open one of the first two in a browser, or copy:

  curl -s  ${fastify.url}/api/me
  curl -sL -c jar -b jar '${fastify.url}/.nnumbers/auth/login?return_to=/api/me&login_hint=ana@example.org'
  curl -s  -b jar ${fastify.url}/api/nations
  NYXDB_URL=${platform.nyxdbUrl} node examples/fills/dist/fills.js BTC-USD

Ctrl-C ends everything.
`;
}
