import { WebSocket } from 'ws';
import type { Clock } from './clock.js';
import type { Limits } from './options.js';
import type { WebSocketFactory } from './websocket.js';
import { HEADER_BYTES } from './wire.js';

const HEARTBEAT_MS = 25_000;

/**
 * ws, with what the standard WebSocket cannot do: the cap holds before anything is allocated, nothing is compressed (a small
 * message cannot become a large one), idle sockets are pinged, and a close that is not answered is enforced.
 */
export const wsFactory =
  (limits: Limits, clock: Clock): WebSocketFactory =>
  (url, protocols) => {
    const socket = new WebSocket(url, protocols, {
      perMessageDeflate: false,
      maxPayload: limits.maxResponseBytes + HEADER_BYTES,
    });
    // ws refuses a message over the cap by an error and closes with 1009 towards the engine, but says 1006 here.
    socket.on('error', (error: Error & { readonly code?: unknown }) => {
      if (error.code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH') socket.emit('close', 1009, Buffer.alloc(0));
    });
    keepAlive(socket, clock);
    return socket;
  };

// Only while nothing is asked of the engine: it takes the requests of a connection one by one, and may answer a ping no
// sooner than the query before it.
function keepAlive(socket: WebSocket, clock: Clock): void {
  let asked = false;
  let unanswered = false;
  const send = socket.send;
  socket.send = (...args: unknown[]) => {
    asked = true;
    Reflect.apply(send, socket, args);
  };
  const heard = (): void => {
    unanswered = false;
  };
  socket.on('pong', heard);
  socket.on('message', () => {
    asked = false;
    heard();
  });
  const beat = (): void => {
    stop = clock.after(HEARTBEAT_MS, beat);
    if (asked) return;
    if (unanswered) socket.terminate();
    else socket.ping();
    unanswered = true;
  };
  let stop = (): void => {};
  socket.on('open', () => {
    stop = clock.after(HEARTBEAT_MS, beat);
  });
  socket.on('close', () => stop());
}
