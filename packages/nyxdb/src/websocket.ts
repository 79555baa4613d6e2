import type { Bytes } from './encode.js';
import { must } from './require.js';

/** What the client reads of a socket's events. */
export interface WebSocketLikeEvent {
  /** `message`: an ArrayBuffer, since `binaryType` says so; anything else is a violation. */
  readonly data?: unknown;
  /** `close`: 1009 is a message over a cap; no other decides anything. */
  readonly code?: number | undefined;
}

/** The part of the standard WebSocket that the client uses; ws, undici and every browser have it. */
export interface WebSocketLike {
  binaryType: string;
  /** The subprotocol the server chose, or an empty string. */
  readonly protocol: string;
  send(data: Bytes): void;
  close(code?: number, reason?: string): void;
  // Libraries type each event apart; all that is read of one is looked at before it is used.
  addEventListener(type: 'open' | 'message' | 'close' | 'error', listener: (event: object) => void): void;
  /** Ends the connection without a closing handshake, where the library can. Called when `close` was not answered. */
  terminate?(): void;
}

/** Makes a socket, not yet open. */
export type WebSocketFactory = (url: string, protocols?: string[]) => WebSocketLike;

/** @throws TypeError where the host has no WebSocket of its own (Node before 22). */
export function hostWebSocket(): WebSocketFactory {
  const Host = globalThis.WebSocket;
  must(Host, 'no WebSocket: use @nn-runtime/nyxdb/node');
  return (url, protocols) => new Host(url, protocols);
}
