import type { WebSocket } from 'ws';
import type { EndReason } from './ends.js';
import type { Settings } from './options.js';

/** Closes a socket, and ends the connection when the closing handshake is not answered in time. */
export function closeSocket(
  { clock, deadlines }: Settings,
  socket: WebSocket,
  code: number,
  reason = '',
): void {
  if (socket.readyState === socket.CLOSED) return;
  const stop = clock.after(deadlines.closeMs, () => socket.terminate());
  socket.once('close', stop);
  if (socket.readyState === socket.CONNECTING) socket.terminate();
  else {
    // A paused socket would never see the answer. One that is not must not be asked: ws throws when there is no connection any more.
    if (socket.isPaused) socket.resume();
    socket.close(code, reason);
  }
}

/** What the end of the engine's connection is to the client. Its own codes and reasons stay here: they could be anything. */
export function reasonOfEngineClose(code: number): EndReason {
  if (code === 1000) return 'engine-closed';
  // RFC 6455 section 7.4.1: our message was too big, or was not what the engine takes.
  if (code === 1009) return 'over-cap';
  return [1002, 1003, 1007, 1008].includes(code) ? 'engine-refused' : 'engine-lost';
}

/** What ws itself found wrong with what a peer sent. */
export const isOverCap = (error: Error & { readonly code?: unknown }): boolean =>
  error.code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH';
