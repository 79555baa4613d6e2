import type { Person } from '@nn-runtime/core';
import { HEADER_BYTES } from '@nn-runtime/nyxdb/frames';
import { WebSocket } from 'ws';
import type { EndReason } from './ends.js';
import { authenticateWith, type EngineAuthentication } from './engine-auth.js';
import type { Settings } from './options.js';
import { closeSocket, isOverCap, reasonOfEngineClose } from './sockets.js';

/** What the engine's side of a relay tells it. */
export interface EngineEvents {
  /** Connected and, where the edge does that, authenticated: told once. */
  onReady(socket: WebSocket): void;
  /** One message after that, not yet judged. */
  onMessage(message: Buffer): void;
  /** It cannot go on. */
  onFailed(reason: EndReason): void;
  /** It was ended, and its socket, if it had one, is closed: told once. */
  onClosed(): void;
}

/**
 * The engine's side of one relay: credentials, connection, authentication, each in its time. One connection, once: a new one behind the
 * same client would be of nobody and hold no subscription, so nothing here opens a second.
 */
export class EngineSide {
  readonly #settings: Settings;
  readonly #events: EngineEvents;
  #socket: WebSocket | undefined;
  #authentication: EngineAuthentication | undefined;
  #state: 'new' | 'connecting' | 'authenticating' | 'ready' | 'ended' = 'new';
  #stopStep = (): void => {};

  constructor(settings: Settings, events: EngineEvents) {
    this.#settings = settings;
    this.#events = events;
  }

  /** Connects; with a person, for whom the edge authenticates, after asking for their credentials. */
  start(person: Person | undefined): void {
    const { authenticate, deadlines, random } = this.#settings;
    if (person === undefined || authenticate === undefined) {
      this.#connect();
      return;
    }
    this.#step(deadlines.authMs, 'token-late');
    new Promise((resolve) => resolve(authenticate(person)))
      .then((unverifiedCredentials) => {
        if (this.#state === 'ended') return;
        if (unverifiedCredentials === null || unverifiedCredentials === undefined) {
          this.#events.onFailed('no-token');
          return;
        }
        this.#authentication = authenticateWith(unverifiedCredentials, random);
        this.#connect();
      })
      // What it threw may hold a token: it goes nowhere.
      .catch(() => this.#events.onFailed('token-unavailable'));
  }

  /** Closes its socket, whatever state it is in. */
  end(): void {
    this.#state = 'ended';
    this.#stopStep();
    this.#authentication = undefined;
    if (this.#socket === undefined) this.#events.onClosed();
    else closeSocket(this.#settings, this.#socket, 1000);
  }

  #step(ms: number, reason: EndReason): void {
    this.#stopStep();
    this.#stopStep = this.#settings.clock.after(ms, () => this.#events.onFailed(reason));
  }

  #connect(): void {
    const { deadlines, limits, upstream } = this.#settings;
    const { onClosed, onFailed } = this.#events;
    this.#state = 'connecting';
    this.#step(deadlines.handshakeMs, 'engine-late');
    // Nothing of the client's request goes with it: no header, cookie, query or subprotocol is the engine's to see.
    const socket = new WebSocket(upstream, {
      perMessageDeflate: false,
      maxPayload: limits.maxResponseBytes + HEADER_BYTES,
      skipUTF8Validation: true,
    });
    this.#socket = socket;
    const isConnecting = (): boolean => this.#state === 'connecting';
    socket.on('open', () => this.#opened(socket));
    socket.on('message', (data, isBinary) => this.#receive(socket, data as Buffer, isBinary));
    socket.on('unexpected-response', (request) => {
      request.destroy();
      onFailed('engine-refused');
    });
    // Never removed: an 'error' without a listener ends the process, also long after close().
    socket.on('error', (error) => {
      if (isOverCap(error)) onFailed('over-cap');
      else onFailed(isConnecting() ? 'engine-unreachable' : 'engine-protocol');
    });
    socket.on('close', (code) => {
      onFailed(isConnecting() ? 'engine-unreachable' : reasonOfEngineClose(code));
      onClosed();
    });
  }

  #opened(socket: WebSocket): void {
    if (this.#state === 'ended') return;
    if (this.#authentication === undefined) {
      this.#ready(socket);
      return;
    }
    this.#state = 'authenticating';
    this.#step(this.#settings.deadlines.authMs, 'engine-late');
    socket.send(this.#authentication.frame);
  }

  #ready(socket: WebSocket): void {
    this.#state = 'ready';
    this.#stopStep();
    this.#events.onReady(socket);
  }

  #receive(socket: WebSocket, message: Buffer, isBinary: boolean): void {
    // ws delivers what it had buffered also after close().
    if (this.#state === 'ended') return;
    if (!isBinary) this.#events.onFailed('engine-protocol');
    else if (this.#authentication === undefined) this.#events.onMessage(message);
    else {
      const failed = this.#authentication.judge(message);
      // Its frame holds the token.
      this.#authentication = undefined;
      if (failed === undefined) this.#ready(socket);
      else this.#events.onFailed(failed);
    }
  }
}
