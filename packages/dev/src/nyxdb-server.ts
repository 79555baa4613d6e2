import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { Socket } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import { Connection } from './nyxdb-connection.js';
import type { FaultScript } from './nyxdb-faults.js';
import type { EngineParts } from './nyxdb-parts.js';
import { Session } from './nyxdb-session.js';

/** The largest request: a payload of 1 MiB (ours: what the client sends at most by default), and the header before it. */
const maxRequestBytes = 1024 * 1024 + 21;

const loopbackName = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/**
 * The engine's WebSocket listener: one frame per binary message, on any path.
 *
 * @param connections - kept up to date with those that are open
 */
export function createNyxdbServer(
  parts: EngineParts,
  faults: FaultScript,
  connections: Set<WebSocket>,
): Server {
  const webSockets = new WebSocketServer({
    noServer: true,
    maxPayload: maxRequestBytes,
    perMessageDeflate: false,
    // ws would take the first one that a client offers; the contract names none.
    handleProtocols: () => false,
  });
  const server = createServer((_request, response) => {
    response.writeHead(426, { Upgrade: 'websocket', Connection: 'Upgrade' }).end();
  });
  server.on('upgrade', (request, duplex, head) => {
    const socket = duplex as Socket;
    socket.on('error', () => socket.destroy());
    const fault = faults.next('connect');
    const accept = () =>
      webSockets.handleUpgrade(request, socket, head, (webSocket) => {
        connections.add(webSocket);
        webSocket.once('close', () => connections.delete(webSocket));
        const connection = new Connection(webSocket, socket, faults);
        if (fault?.do === 'close') connection.close(fault.code);
        serve(webSocket, new Session(parts, connection));
      });
    if (!fromThisMachine(request)) refuse(socket, '403 Forbidden');
    else if (fault === undefined || fault.do === 'close') accept();
    else if (fault.do === 'reset') socket.resetAndDestroy();
    else if (fault.do !== 'stall') refuse(socket, '503 Service Unavailable');
  });
  return server;
}

function serve(webSocket: WebSocket, session: Session): void {
  // A message over the cap, or bytes that are no WebSocket frame: ws closes by itself.
  webSocket.on('error', () => {});
  webSocket.on('message', (data, isBinary) => session.receive(data as Buffer, isBinary));
  webSocket.once('close', () => session.end());
}

/**
 * The contract's engine has no Origin allow-list. This one listens on a developer's machine, where any page of the web
 * could open a WebSocket to it: pages that are not of this machine, and other Host names (DNS rebinding), are refused.
 */
function fromThisMachine({ headers }: IncomingMessage): boolean {
  const host = `http://${headers.host ?? ''}`;
  const named = [host, headers.origin ?? host];
  return named.every((url) => URL.canParse(url) && loopbackName.test(new URL(url).hostname));
}

function refuse(socket: Socket, statusLine: string): void {
  socket.end(`HTTP/1.1 ${statusLine}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
}
