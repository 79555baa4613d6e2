import { decodeResponse, isZero, sameBytes } from './decode.js';
import { type Bytes, encodeFrame, encodeText } from './encode.js';
import type { Fault, Outcome } from './errors.js';
import { FrameError } from './fault.js';
import type { Link } from './link.js';
import { CLOSE_MS } from './options.js';
import type { WebSocketLikeEvent } from './websocket.js';
import { EDGE_PROTOCOL, STATUS_ERROR, STATUS_OK } from './wire.js';

/**
 * Reads one answer of a request. Gives its value when it was the last one; undefined when more may come.
 *
 * @throws FrameError: the connection ends.
 */
export type Read<T> = (status: number, payload: Uint8Array) => T | undefined;

/** One socket and the one request in flight on it. Knows frames and ids, not what is asked. */
export interface Channel {
  /** Its life, one way. `draining`: its request was given up, and only the last answer to it is waited for. */
  state: 'connecting' | 'authenticating' | 'ready' | 'busy' | 'draining' | 'dead';
  /** The text it was authenticated with, empty when the edge does that. Never leaves this package. */
  readonly principal: string;
  /** Settles when the socket is open, or failed to. */
  readonly opened: Promise<void>;
  /** Resolves when the socket is closed, or abandoned. */
  readonly closed: Promise<void>;
  /** Told once, when the socket is of no use any more. */
  onDead: (() => void) | undefined;
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
    state: Channel['state'],
    read: Read<T>,
    outcome?: Outcome,
  ): Promise<T>;
  /** Ends the socket. Without a fault: on purpose, with nothing in flight. Later frames are not looked at. */
  end(fault?: Fault, closeCode?: number, outcome?: Outcome): void;
}

interface Request {
  readonly id: Uint8Array;
  readonly outcome: Outcome | undefined;
  read(status: number, payload: Uint8Array): unknown;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

const LOST: Fault = { code: 'CONNECTION_LOST' };
const REVOKED = encodeText('auth revoked');

/** @throws whatever the factory throws. */
export function createChannel(link: Link, principal: string): Channel {
  const { clock, emit, limits, url, webSocket } = link;
  const socket = webSocket(url, principal ? undefined : [EDGE_PROTOCOL]);
  // Before anything can arrive: a Blob could only be read after an await, and other frames would overtake it.
  socket.binaryType = 'arraybuffer';
  let request: Request | undefined;
  let ended: Fault = LOST;
  let stopClose: (() => void) | undefined;

  const fail = (one: Request | undefined, fault: Fault, outcome: Outcome = 'unknown'): void =>
    one?.reject(link.error(fault, one.outcome ?? outcome));

  function end(fault?: Fault, closeCode = 4000, outcome?: Outcome): void {
    if (channel.state === 'dead') return;
    channel.state = 'dead';
    ended = fault ?? ended;
    // Before close(): undici may send its event from within.
    stopClose = clock.after(CLOSE_MS, () => {
      socket.terminate?.();
      closed?.();
    });
    try {
      // 1000 and 4xxx are the only codes browsers and undici let a client send. No reason: it could only leak.
      socket.close(closeCode);
    } catch {
      // Closed already, in whatever way: the state says so.
    }
    emit({ name: 'socket-ended', code: fault?.code });
    fail(request, ended, outcome);
    channel.onDead?.();
  }

  function receive(data: unknown): void {
    // ws delivers what it had buffered also after close(): what follows a violation, or a revocation, does not count.
    if (channel.state === 'dead') return;
    let isCompleted = false;
    try {
      if (typeof data === 'string') throw new FrameError('text-message');
      // Not instanceof: in a test runner or an iframe the buffer may come from another realm.
      if (String(data) !== '[object ArrayBuffer]') throw new FrameError('not-arraybuffer');
      const { payload, requestId, status } = decodeResponse(
        new Uint8Array(data as ArrayBuffer),
        limits.maxResponseBytes,
      );
      const isMatched = request !== undefined && sameBytes(request.id, requestId);
      // Byte for byte, on the zero id or, since the contract calls it a subscription's "terminal error", on the request's own.
      // Before authentication there is nothing to revoke.
      if (
        channel.state !== 'connecting' &&
        status === STATUS_ERROR &&
        (isMatched || isZero(requestId)) &&
        sameBytes(payload, REVOKED)
      ) {
        link.revoke(principal);
        return;
      }
      if (!isMatched) throw new FrameError('unmatched');
      isCompleted = status === STATUS_OK;
      const answered = request as Request;
      const value = answered.read(status, payload);
      if (value === undefined) return;
      request = undefined;
      if (channel.state === 'draining') end();
      else channel.state = 'ready';
      answered.resolve(value);
    } catch (error) {
      const reason = error instanceof FrameError ? error.reason : 'contradictory';
      end({ code: 'PROTOCOL_ERROR', reason }, 4002, isCompleted ? 'completed' : undefined);
    }
  }

  function lose(event: WebSocketLikeEvent): void {
    // RFC 6455 section 7.4.1: a message too big to process, theirs or ours.
    if (event.code === 1009) end({ code: 'PROTOCOL_ERROR', reason: 'over-cap' }, 4002);
    // The edge's word, which an engine cannot be: it has no token for this person.
    else if (!principal && event.code === 4403) end({ code: 'AUTH_FAILED' });
    else end(channel.state === 'connecting' ? { code: 'CONNECTION_FAILED' } : LOST);
  }

  let closed: (() => void) | undefined;
  const channel: Channel = {
    state: 'connecting',
    principal,
    opened: new Promise<void>((resolve, reject) => {
      // Until it is open nothing can match: no response has an empty id.
      request = { id: new Uint8Array(), outcome: 'not-sent', resolve, reject } as Request;
    }),
    closed: new Promise<void>((resolve) => {
      closed = () => {
        link.channels.delete(channel);
        resolve();
      };
    }),
    onDead: undefined,
    ask: (op, id, payload, state, read, outcome) =>
      new Promise((resolve, reject) => {
        const asked = { id, outcome, read, resolve, reject } as Request;
        // It may have ended between two steps of its owner: ws can deliver a message in the same turn as 'open'.
        if (channel.state === 'dead') return fail(asked, ended, 'not-sent');
        channel.state = state;
        request = asked;
        try {
          socket.send(encodeFrame(op, 0, id, 1, payload));
        } catch {
          end(LOST, 4000, 'not-sent');
        }
      }),
    end,
  };
  // Never removed: an 'error' without a listener ends a Node process, also long after close().
  socket.addEventListener('open', () => {
    // Not every WebSocket looks at it itself. Whoever does not speak it would wait for an OP_AUTH, or run calls of nobody.
    if (principal || socket.protocol === EDGE_PROTOCOL) request?.resolve(null);
    else lose({});
  });
  socket.addEventListener('message', (event: WebSocketLikeEvent) => receive(event.data));
  socket.addEventListener('error', lose);
  socket.addEventListener('close', (event) => {
    lose(event);
    stopClose?.();
    closed?.();
  });
  // Last: what a factory gave may be no socket, and throws above.
  link.channels.add(channel);
  return channel;
}
