import type { Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

/** The part of the platform that wanted a port. */
export type PlatformPart = 'edge' | 'broker' | 'iam' | 'nyxdb';

/**
 * A port the platform was told to use is taken. Thrown by `startPlatform` before anything is left running; command
 * lines name their own option by `part` and `appId`.
 */
export class PortInUseError extends Error {
  override readonly name = 'PortInUseError';
  readonly code = 'PORT_IN_USE';
  readonly port: number;
  readonly part: PlatformPart;
  /** The application whose edge wanted the port; undefined for the other parts. */
  readonly appId: string | undefined;

  constructor(port: number, part: PlatformPart, appId: string | undefined) {
    const owner = appId === undefined ? `the ${part}` : `the edge of application "${appId}"`;
    const option = appId === undefined ? `ports.${part}` : 'the port of that application';
    super(`port ${port}, wanted for ${owner}, is in use: choose another with ${option}`);
    this.port = port;
    this.part = part;
    this.appId = appId;
  }
}

/** A listening server, and how to end it. */
export interface Listening {
  readonly port: number;
  /** Stops listening and ends every connection, upgraded ones too. */
  close(): Promise<void>;
}

/** Listens on the loopback address and nowhere else. Port 0 is any free one. */
export async function listen(
  server: Server,
  port: number,
  part: PlatformPart,
  appId?: string | undefined,
): Promise<Listening> {
  // Server.closeAllConnections() leaves upgraded sockets open, so they are kept track of here.
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(error.code === 'EADDRINUSE' ? new PortInUseError(port, part, appId) : error),
    );
    server.listen({ port, host: '127.0.0.1' }, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
