import { type IncomingMessage, type Server, ServerResponse } from 'node:http';
import type { Server as SecureServer } from 'node:https';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** A Node HTTP server, with or without TLS. */
export type UpgradeServer = Server | SecureServer;

/** Takes the upgrade requests of one path. */
export type UpgradeHandler = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

type Emit = (event: string, ...args: unknown[]) => boolean;

// One look at each upgrade however many edges a server has.
const claims = new WeakMap<UpgradeServer, Map<string, UpgradeHandler>>();

/**
 * Has one handler take the WebSocket upgrades of one exact path. Every other upgrade goes where it would go without it: to other
 * listeners, or, when there are none, to the application as the ordinary request that it is then.
 *
 * The claim is looked at before the listeners are called, because all of them are: one that takes every upgrade, as @fastify/websocket and
 * a `ws` server without `noServer` do, would write its own answer on our socket.
 *
 * @throws Error when the path of this server is claimed already.
 */
export function claimUpgrades(server: UpgradeServer, path: string, handler: UpgradeHandler): void {
  let handlers = claims.get(server);
  if (handlers === undefined) {
    handlers = new Map();
    claims.set(server, handlers);
    intercept(server, handlers);
  }
  if (handlers.has(path)) throw new Error('upgrades of this path are claimed already, on this server');
  handlers.set(path, handler);
}

function intercept(server: UpgradeServer, handlers: ReadonlyMap<string, UpgradeHandler>): void {
  const emit: Emit = server.emit.bind(server);
  const claiming: Emit = (event, ...args) => {
    if (event === 'upgrade') {
      const [request, socket, head] = args as Parameters<UpgradeHandler>;
      const handler = handlerOf(request, handlers);
      if (handler !== undefined) {
        if (owesAnAnswer(request, socket)) socket.destroy();
        else handler(request, socket, head);
        return true;
      }
    }
    return emit(event, ...args);
  };
  server.emit = claiming as typeof server.emit;
  // Node asks for a listener before it lets go of a request.
  server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    if (server.listenerCount('upgrade') === 1) serveOrdinarily(server, request, socket, head);
  });
}

function handlerOf(
  { headers, httpVersion, method, url = '' }: IncomingMessage,
  handlers: ReadonlyMap<string, UpgradeHandler>,
): UpgradeHandler | undefined {
  // RFC 9110 section 7.8: an Upgrade "in an HTTP/1.0 request" is one that must be ignored.
  const isWebSocket =
    method === 'GET' && httpVersion !== '1.0' && headers.upgrade?.toLowerCase() === 'websocket';
  return isWebSocket ? handlers.get(url.split('?', 1)[0] ?? '') : undefined;
}

/** Whether a request announces a body (RFC 9112 section 6.3). Node stops reading HTTP at an upgrade: it would be taken for what follows. */
export function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

/**
 * Whether an earlier request of this connection still waits for its answer. Node hands over an upgrade that was pipelined behind it all the
 * same: the answer would be written into whatever follows, and a second response cannot have the socket (`assignSocket` throws).
 */
function owesAnAnswer(request: IncomingMessage, socket: Duplex): boolean {
  if (!(socket instanceof Socket)) return false;
  const response = new ServerResponse(request);
  try {
    response.assignSocket(socket);
  } catch {
    return true;
  }
  response.detachSocket(socket);
  return false;
}

/** Nobody speaks what the client offers to change to: it is answered in HTTP (RFC 9110 section 7.8: "A server MAY ignore" it). */
function serveOrdinarily(
  server: UpgradeServer,
  request: IncomingMessage,
  socket: Duplex,
  head: Buffer,
): void {
  socket.on('error', () => socket.destroy());
  if (owesAnAnswer(request, socket)) {
    socket.destroy();
    return;
  }
  // Node stopped reading HTTP at the end of the head: a body cannot be had any more.
  if (hasBody(request) || head.length > 0 || !(socket instanceof Socket)) {
    socket.end('HTTP/1.1 501 Not Implemented\r\ncontent-length: 0\r\nconnection: close\r\n\r\n');
    return;
  }
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket);
  response.once('finish', () => socket.destroySoon());
  server.emit('request', request, response);
}
