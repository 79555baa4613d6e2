import { decodeResponse, isZero, type ResponseFrame, sameBytes } from './decode.js';
import { type Bytes, encodeRequest, encodeText } from './encode.js';
import type { Fault, Outcome } from './errors.js';
import { FrameError } from './fault.js';
import type { Link } from './link.js';
import type { WebSocketLike, WebSocketLikeEvent } from './websocket.js';
import { STATUS_ERROR, STATUS_OK } from './wire.js';

/** The life of a socket, one way. `draining`: its request was given up; it takes no other. */
export type ChannelState = 'connecting' | 'authenticating' | 'ready' | 'busy' | 'draining' | 'dead';

/**
 * Reads one answer of a request. Gives its value when it was the last one; undefined when more may come.
 *
 * @throws FrameError: the connection ends.
 */
export type Read<T> = (status: number, payload: Uint8Array) => T | undefined;

interface Request {
  readonly id: Uint8Array;
  /** Undefined when more may come, else what to do next. */
  readonly read: (status: number, payload: Uint8Array) => (() => void) | undefined;
  readonly lost: (fault: Fault, outcome: Outcome | undefined) => void;
}

/** How long a closing handshake is waited for: undici, for one, waits for ever. */
const CLOSE_MS = 2_000;
const LOST: Fault = { code: 'CONNECTION_LOST' };
const REVOKED = encodeText('auth revoked');

/** One socket and the one request in flight on it. Knows frames and ids, not what is asked. */
export class Channel {
  state: ChannelState = 'connecting';
  #request: Request | undefined;
  readonly #socket: WebSocketLike;
  readonly #link: Link;
  /** The text it was authenticated with. Never leaves this package. */
  readonly principal: string;
  #fault: Fault | undefined;
  #stopClose: (() => void) | undefined;
  #abandon: (() => void) | undefined;
  /** Told once, when the socket is of no use any more. */
  onDead: (() => void) | undefined;
  /** Settles when the socket is open, or failed to. */
  readonly opened: Promise<void>;
  /** Resolves when the socket is closed, or abandoned. */
  readonly closed: Promise<void>;

  /** @throws whatever the factory throws. */
  constructor(link: Link, principal: string) {
    this.#link = link;
    this.principal = principal;
    this.#socket = link.settings.webSocket(link.settings.url);
    // Before anything can arrive: a Blob could only be read after an await, and other frames would overtake it.
    this.#socket.binaryType = 'arraybuffer';
    link.channels.add(this);
    // Listeners are never removed: an 'error' without one ends a Node process, also long after close().
    this.opened = new Promise((resolve, reject) => {
      this.#socket.addEventListener('open', () => resolve());
      // Until there is a request nothing matches: no response has an empty id.
      this.#request = {
        id: new Uint8Array(),
        read: () => undefined,
        lost: (fault) => reject(link.error(fault, 'not-sent')),
      };
    });
    this.#socket.addEventListener('message', (event: WebSocketLikeEvent) => this.#receive(event.data));
    this.#socket.addEventListener('error', (event: WebSocketLikeEvent) => this.#lost(event));
    this.closed = new Promise((resolve) => {
      this.#socket.addEventListener('close', (event: WebSocketLikeEvent) => {
        this.#stopClose?.();
        this.#lost(event);
        resolve();
      });
      this.#abandon = resolve;
    });
  }

  /** Whether it is of no use any more. */
  get isDead(): boolean {
    return this.state === 'dead';
  }

  /**
   * Sends one request, and gives what `read` makes of its last answer. Nothing else may be sent until then: the engine takes
   * requests one by one (contract, "Cancel an executing one-shot").
   *
   * @param outcome - of the call that this request serves, should the connection end; by default whatever is known.
   */
  ask<T>(
    op: number,
    id: Bytes,
    payload: Uint8Array,
    state: ChannelState,
    read: Read<T>,
    outcome?: Outcome,
  ): Promise<T> {
    return new Promise((resolve, reject) => {
      const lost: Request['lost'] = (fault, known = 'unknown') =>
        reject(this.#link.error(fault, outcome ?? known));
      // It may have ended between two steps of its owner: ws can deliver a message in the same turn as 'open'.
      if (this.isDead) {
        lost(this.#fault ?? LOST, 'not-sent');
        return;
      }
      this.state = state;
      this.#request = {
        id,
        read(status, body) {
          const value = read(status, body);
          return value === undefined ? undefined : () => resolve(value);
        },
        lost,
      };
      try {
        this.#socket.send(encodeRequest(op, id, payload));
      } catch {
        this.end(LOST, 4000, 'not-sent');
      }
    });
  }

  /** Ends the socket. Without a fault: on purpose, with nothing in flight. Later frames are not looked at. */
  end(fault?: Fault, closeCode = 4000, outcome?: Outcome): void {
    if (this.isDead) return;
    this.state = 'dead';
    this.#fault = fault;
    const { clock, emit } = this.#link.settings;
    this.#link.channels.delete(this);
    // Before close(): undici may send its event from within.
    this.#stopClose = clock.after(CLOSE_MS, () => {
      this.#socket.terminate?.();
      this.#abandon?.();
    });
    try {
      // 1000 and 4xxx are the only codes browsers and undici let a client send. No reason: it could only leak.
      this.#socket.close(closeCode);
    } catch {
      // Closed already, in whatever way: the state says so.
    }
    emit({ name: 'socket-ended', code: fault?.code });
    const request = this.#request;
    this.#request = undefined;
    request?.lost(fault ?? { code: 'CLOSED' }, outcome);
    this.onDead?.();
  }

  #receive(data: unknown): void {
    // ws delivers what it had buffered also after close(): what follows a violation, or a revocation, does not count.
    if (this.isDead) return;
    let completed = false;
    let next: (() => void) | undefined;
    try {
      if (typeof data === 'string') throw new FrameError('text-message');
      // Not instanceof: in a test runner or an iframe the buffer may come from another realm.
      if (String(data) !== '[object ArrayBuffer]') throw new FrameError('not-arraybuffer');
      const limit = this.#link.settings.limits.maxResponseBytes;
      const frame = decodeResponse(new Uint8Array(data as ArrayBuffer), limit);
      const request = this.#request;
      const matched = request !== undefined && sameBytes(request.id, frame.requestId);
      if (this.#isRevocation(frame, matched)) {
        this.#link.revoke(this.principal);
        return;
      }
      if (!matched) throw new FrameError('unmatched');
      completed = frame.status === STATUS_OK;
      next = request.read(frame.status, frame.payload);
    } catch (error) {
      const reason = error instanceof FrameError ? error.reason : 'contradictory';
      this.end({ code: 'PROTOCOL_ERROR', reason }, 4002, completed ? 'completed' : undefined);
    }
    if (next === undefined || this.isDead) return;
    this.#request = undefined;
    if (this.state === 'draining') this.end();
    else this.state = 'ready';
    next();
  }

  // Byte for byte, on the zero id or, since the contract calls it a subscription's "terminal error", on the request's own.
  // Before authentication there is nothing to revoke.
  #isRevocation(frame: ResponseFrame, matched: boolean): boolean {
    return (
      this.state !== 'connecting' &&
      frame.status === STATUS_ERROR &&
      (matched || isZero(frame.requestId)) &&
      sameBytes(frame.payload, REVOKED)
    );
  }

  #lost(event: WebSocketLikeEvent): void {
    const error = event.error as { readonly code?: unknown } | null | undefined;
    // The library's own cap: ws tells by this code, others close with 1009 as RFC 6455 section 7.4.1 has it.
    if (error?.code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH' || event.code === 1009)
      this.end({ code: 'PROTOCOL_ERROR', reason: 'over-cap' }, 4002);
    else this.end({ code: this.state === 'connecting' ? 'CONNECTION_FAILED' : LOST.code });
  }
}
