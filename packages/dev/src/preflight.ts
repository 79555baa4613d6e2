import { once } from 'node:events';
import { connect } from 'node:net';
import type { Arguments } from './arguments.js';

/** Something that would only show later, as an application that never answers. */
class StartError extends Error {
  override readonly name = 'StartError';
}

const portOptions = {
  port: '--port',
  brokerPort: '--broker-port',
  nyxdbPort: '--nyxdb-port',
  iamPort: '--iam-port',
} as const;

/**
 * Looks for what no part of the platform would notice by itself.
 *
 * @throws StartError that says what to change
 */
export async function checkArguments(options: Arguments): Promise<void> {
  const taken = new Map<number, string>();
  for (const [name, option] of Object.entries(portOptions)) {
    const port = options[name as keyof typeof portOptions];
    const other = taken.get(port);
    if (port !== 0 && other !== undefined)
      throw new StartError(`${other} and ${option} are the same port, ${port}`);
    taken.set(port, option);
  }

  // What is not such an address is named by startPlatform.
  const app = URL.canParse(options.app) ? new URL(options.app) : undefined;
  if (app === undefined || app.protocol !== 'http:') return;
  const appPort = Number(app.port || 80);
  const own = taken.get(appPort);
  if (own !== undefined)
    throw new StartError(
      `--app ${options.app} and ${own} are the same port: --app is the application's own address, not the one people use`,
    );
  if (options.command.length > 0 && (await listens(app.hostname, appPort)))
    throw new StartError(
      `something listens at ${options.app} already, where your command should: end it, or choose another port with --app`,
    );
}

async function listens(hostname: string, port: number): Promise<boolean> {
  const socket = connect({ host: hostname.replace(/^\[|\]$/g, ''), port, autoSelectFamily: true });
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
