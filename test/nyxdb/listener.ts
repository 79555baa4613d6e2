import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';

interface Asked {
  readonly server: number;
  readonly what: 'listen' | 'shut' | 'send' | 'close' | 'terminate' | 'ping';
  readonly options: object;
  readonly peer: number;
  readonly data: string;
  readonly isText: boolean;
  readonly code: number | undefined;
}

/** Listens for a page, which cannot: WebSocket servers as it asks for them over `control`, and all that comes told to it. */
export function listenFor(control: WebSocket): void {
  const servers = new Map<number, WebSocketServer>();
  const peers = new Map<number, WebSocket>();

  async function listen(server: number, options: object): Promise<void> {
    const tell = (told: object): void => control.send(JSON.stringify({ server, ...told }));
    const sockets = new WebSocketServer({ ...options, host: '127.0.0.1', port: 0 });
    servers.set(server, sockets);
    sockets.on('connection', (socket, { url, headers }) => {
      const peer = peers.size;
      peers.set(peer, socket);
      socket.on('message', (data: Buffer, isBinary) =>
        tell({ what: 'message', peer, data: data.toString(isBinary ? 'hex' : 'utf8'), isBinary }),
      );
      socket.on('error', () => tell({ what: 'error', peer }));
      socket.on('pong', () => tell({ what: 'pong', peer }));
      socket.on('close', (code) => tell({ what: 'close', peer, code }));
      tell({ what: 'connection', peer, path: url, headers });
    });
    await once(sockets, 'listening');
    tell({ what: 'listening', port: (sockets.address() as AddressInfo).port });
  }

  control.on('message', (message) => {
    const asked = JSON.parse(String(message)) as Asked;
    const { server, what, data } = asked;
    const socket = peers.get(asked.peer);
    if (what === 'listen') void listen(server, asked.options);
    else if (what === 'shut')
      servers.get(server)?.close(() => control.send(JSON.stringify({ server, what: 'closed' })));
    else if (what === 'send') socket?.send(asked.isText ? data : Buffer.from(data, 'hex'));
    else if (what === 'close') socket?.close(asked.code);
    else socket?.[what]();
  });
  control.on('close', () => {
    for (const socket of peers.values()) socket.terminate();
    for (const server of servers.values()) server.close();
  });
}
