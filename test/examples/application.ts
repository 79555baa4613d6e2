import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { TestEnvironment } from '@nn-runtime/dev/testing';

export const examples = [
  { app: 'fastify-app', framework: 'Fastify' },
  { app: 'express-app', framework: 'Express' },
] as const;

/** An example in a process of its own. */
export interface Application {
  readonly url: string;
  readonly port: number;
  readonly child: ChildProcess;
}

/** Starts an example on a free port; resolves when it listens. */
export async function start(app: string, env: TestEnvironment): Promise<Application> {
  const script = fileURLToPath(new URL(`../../examples/${app}/dist/server.js`, import.meta.url));
  const child = spawn(process.execPath, [script], {
    env: { ...env, PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [line] = await once(child.stdout, 'data');
  const [, url] = /listens on (http:\/\/127\.0\.0\.1:\d+)\n$/.exec(String(line)) ?? [];
  if (url === undefined) throw new Error(`no address in ${line}`);
  return { url, port: Number(new URL(url).port), child };
}

/** Resolves once nobody takes connections there any more. */
export async function refusesConnections(port: number): Promise<void> {
  const isTaken = () =>
    new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1');
      socket.once('error', () => resolve(false));
      socket.once('connect', () => socket.destroy()).once('close', () => resolve(true));
    });
  while (await isTaken());
}
