import type { Bytes } from './encode.js';
import { must } from './require.js';

/** What the client reads of a socket's events. */
export interface WebSocketLikeEvent {
  /** `message`: an ArrayBuffer, since `binaryType` says so; anything else is a violation. */
  readonly data?: unknown;
  /** `close`: diagnostics only; it never decides alone whether to come back. */
  readonly code?: number | undefined;
  /** `error`: what the library threw, where it tells. */
  readonly error?: unknown;
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
  must(Host, 'no WebSocket here: import @nn-runtime/nyxdb/node, or give the webSocket option');
  return (url, protocols) => new Host(url, protocols);
}
