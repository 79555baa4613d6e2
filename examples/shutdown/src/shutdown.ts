import { once } from 'node:events';
import type { Server, ServerResponse } from 'node:http';
import { Server as Listener, type Socket } from 'node:net';
import { setTimeout as pause, setImmediate as turn } from 'node:timers/promises';

/** How long a connection without a request stays open: its client may be writing the next one just now. */
const GRACE_MS = 1_000;
/** When the process ends, whoever still sends or does not read. */
const DEADLINE_MS = 4_000;

/**
 * On SIGINT and SIGTERM: takes no more connections, makes each answer the last of its connection, and ends the process with code 0
 * once all that was asked is answered, and within five seconds in any case.
 *
 * @param close ends the rest of the application, connections with a WebSocket among it; the server does not listen any more then
 */
export function endOnSignal(server: Server, close: () => Promise<void>): void {
  const unanswered = new Set<ServerResponse>();
  /** Connections that brought an answer, and how much had been read from them by then. */
  const kept = new Map<Socket, number>();
  let isEnding = false;

  // Before the application's own listener, which may answer at once.
  server.prependListener('request', ({ socket }, response) => {
    if (isEnding) response.setHeader('connection', 'close');
    unanswered.add(response);
    response.once('close', () => {
      unanswered.delete(response);
      if (!socket.destroyed) kept.set(socket, socket.bytesRead);
      // It had begun before, and its header could not say so any more.
      if (isEnding) setTimeout(() => server.closeIdleConnections(), GRACE_MS).unref();
    });
  });
  server.on('connection', (socket) => socket.once('close', () => kept.delete(socket)));

  // Node's own, which its close() calls too, cuts an answer that the application has ended and a slow client has not read.
  server.closeIdleConnections = () => {
    for (const { req } of unanswered) kept.delete(req.socket);
    for (const [socket, bytesRead] of kept) if (socket.bytesRead === bytesRead) socket.destroy();
  };

  async function end(): Promise<void> {
    if (isEnding) return;
    isEnding = true;
    setTimeout(() => process.exit(), DEADLINE_MS).unref();
    const closed = once(server, 'close');
    // The HTTP server's close() ends idle connections as well, and so resets a request that it has not read yet.
    Listener.prototype.close.call(server);
    // RFC 9112 section 9.6: after this the client sends nothing more on the connection.
    for (const response of unanswered) if (!response.headersSent) response.setHeader('connection', 'close');
    await Promise.race([closed, pause(GRACE_MS, undefined, { ref: false })]);
    // Once more round the event loop, which reads what has come by now.
    await turn();
    server.closeIdleConnections();
    await close();
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => void end());
}
