import { constants } from 'node:os';
import { fileURLToPath } from 'node:url';
import { PortInUseError, type RunningCommand, runCommand, startPlatform } from '@nn-runtime/dev';
import { type Ports, readPorts, usage } from './options.js';
import { busy, checkFree, readyBlock, untilAnswers } from './ready.js';

const apps = [
  { id: 'fastify-app', edge: 'fastify-port', own: 'fastify-app-port' },
  { id: 'express-app', edge: 'express-port', own: 'express-app-port' },
] as const;

const url = (port: number): string => `http://127.0.0.1:${port}`;

/** A taken port under the name of the option that changes it. */
function named(error: unknown): unknown {
  if (!(error instanceof PortInUseError)) return error;
  const app = apps.find(({ id }) => id === error.appId);
  if (app !== undefined) return busy(error.port, app.edge);
  return busy(error.port, `${error.part === 'edge' ? 'broker' : error.part}-port`);
}

async function main(ports: Ports): Promise<void> {
  for (const { own } of apps) await checkFree(ports, own);
  const platform = await startPlatform({
    apps: apps.map(({ id, edge, own }) => ({ id, url: url(ports[own]), port: ports[edge] })),
    ports: { broker: ports['broker-port'], nyxdb: ports['nyxdb-port'], iam: ports['iam-port'] },
    nyxdb: { tickMs: 1000 },
  });

  const commands: RunningCommand[] = [];
  const ended = new AbortController();
  const end = async (exitCode: number, signal?: NodeJS.Signals) => {
    if (ended.signal.aborted) return;
    ended.abort();
    await Promise.all(commands.map((command) => command.stop(signal)));
    await platform.close();
    process.exit(exitCode);
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      if (ended.signal.aborted) for (const command of commands) void command.stop('SIGKILL', 0);
      else void end(128 + constants.signals[signal], signal);
    });
  }

  for (const { id, own } of apps) {
    const server = fileURLToPath(new URL(`../../${id}/dist/server.js`, import.meta.url));
    const command = runCommand([process.execPath, server], {
      label: `[${id}]`,
      env: { ...platform.apps[id].env, ...platform.apps[id].localEnv, PORT: String(ports[own]) },
    });
    commands.push(command);
    void command.exitCode.then((exitCode) => {
      if (ended.signal.aborted) return;
      process.stderr.write(`start: ${id} ended with code ${exitCode}, so everything ends\n`);
      void end(exitCode === 0 ? 1 : exitCode);
    });
  }

  try {
    await Promise.all(apps.map(({ own }) => untilAnswers(url(ports[own]), ended.signal)));
  } catch (error) {
    process.stderr.write(`start: ${error instanceof Error ? error.message : String(error)}\n`);
    await end(1);
  }
  if (!ended.signal.aborted) process.stdout.write(readyBlock(platform, ports));
}

try {
  const ports = readPorts(process.argv.slice(2));
  if (ports === undefined) process.stdout.write(usage);
  else await main(ports);
} catch (error) {
  const reason = named(error);
  process.stderr.write(`start: ${reason instanceof Error ? reason.message : String(reason)}\n`);
  process.exit(1);
}
