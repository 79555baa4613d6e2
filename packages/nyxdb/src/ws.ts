import { WebSocket } from 'ws';
import type { Limits } from './options.js';
import type { WebSocketFactory } from './websocket.js';
import { HEADER_BYTES } from './wire.js';

/**
 * ws, with what the standard WebSocket cannot do: the cap holds before anything is allocated, nothing is compressed (a small
 * message cannot become a large one), idle sockets are pinged, and a close that is not answered is enforced.
 */
export const wsFactory =
  (limits: Limits): WebSocketFactory =>
  (url, protocols) => {
    const socket = new WebSocket(url, protocols, {
      perMessageDeflate: false,
      maxPayload: limits.maxResponseBytes + HEADER_BYTES,
    });
    let unanswered = false;
    const heard = (): void => {
      unanswered = false;
    };
    socket.on('pong', heard);
    socket.on('message', heard);
    return Object.assign(socket, {
      heartbeat(): void {
        if (unanswered) socket.terminate();
        else socket.ping();
        unanswered = true;
      },
    });
  };
