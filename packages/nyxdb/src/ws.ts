import { WebSocket } from 'ws';
import type { Clock } from './clock.js';
import type { Limits } from './options.js';
import type { WebSocketFactory, WebSocketLike } from './websocket.js';
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
    return toWebSocketLike(socket, keepAlive(socket, clock));
  };

interface Heartbeat {
  /** A request is on its way. */
  asked(): void;
  /** The engine gave a sign of life. */
  heard(): void;
}

// ws's own addEventListener makes an event with a target for every message, which costs as much as reading one.
const toWebSocketLike = (socket: WebSocket, { asked, heard }: Heartbeat): WebSocketLike => ({
  get binaryType() {
    return socket.binaryType;
  },
  set binaryType(type) {
    socket.binaryType = type as 'arraybuffer';
  },
  get protocol() {
    return socket.protocol;
  },
  send(data) {
    asked();
    socket.send(data);
  },
  close: (code, reason) => socket.close(code, reason),
  terminate: () => socket.terminate(),
  addEventListener(type, listener) {
    if (type === 'message')
      socket.on('message', (data: unknown, isBinary) => {
        heard();
        listener({ data: isBinary ? data : String(data) });
      });
    else if (type === 'close') socket.on('close', (code) => listener({ code }));
    else
      socket.on(type, (error?: Error & { readonly code?: unknown }) =>
        // ws refuses a message over the cap by this error, and closes with 1009 towards the engine, but with 1006 here.
        listener({ code: error?.code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH' ? 1009 : undefined }),
      );
  },
});

// Only while nothing is asked of the engine: it takes the requests of a connection one by one, and may answer a ping no
// sooner than the query before it.
function keepAlive(socket: WebSocket, clock: Clock): Heartbeat {
  let isAsked = false;
  let isUnanswered = false;
  socket.on('pong', () => {
    isUnanswered = false;
  });
  const beat = (): void => {
    stop = clock.after(HEARTBEAT_MS, beat);
    if (isAsked) return;
    if (isUnanswered) socket.terminate();
    else socket.ping();
    isUnanswered = true;
  };
  let stop = (): void => {};
  socket.on('open', () => {
    stop = clock.after(HEARTBEAT_MS, beat);
  });
  socket.on('close', () => stop());
  return {
    asked() {
      isAsked = true;
    },
    heard() {
      isAsked = false;
      isUnanswered = false;
    },
  };
}
