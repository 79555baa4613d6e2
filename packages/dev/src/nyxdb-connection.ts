import { randomBytes } from 'node:crypto';
import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import type { FaultScript, NyxdbFaultAction, NyxdbFaultPoint } from './nyxdb-faults.js';
import { revocationFrame } from './nyxdb-frame.js';

/** How long a client may take to answer a close frame. */
const closeDeadlineMs = 1_000;
/** More than this unsent, and the client is too slow to be served. */
const maxBufferedBytes = 64 * 1024 * 1024;

/** The sending side of one connection, with the fault script between the engine and the wire. */
export class Connection {
  readonly #webSocket: WebSocket;
  readonly #socket: Socket;
  readonly #faults: FaultScript;
  /** Frames that wait behind a delayed one. */
  #waiting: (() => void)[] | undefined;
  #delayed: NodeJS.Timeout | undefined;
  #closing: NodeJS.Timeout | undefined;

  constructor(webSocket: WebSocket, socket: Socket, faults: FaultScript) {
    this.#webSocket = webSocket;
    this.#socket = socket;
    this.#faults = faults;
    webSocket.once('close', () => {
      clearTimeout(this.#delayed);
      clearTimeout(this.#closing);
    });
  }

  get open(): boolean {
    return this.#webSocket.readyState === this.#webSocket.OPEN;
  }

  /** Sends one frame as one binary message; nothing when the connection is ending. */
  send(on: NyxdbFaultPoint, frame: Buffer): void {
    this.#inOrder(() => {
      if (!this.open) return;
      const fault = this.#faults.next(on);
      if (fault === undefined) this.#write(frame);
      else this.#damage(fault, frame);
    });
  }

  /** Sends the revocation frame and drops the transport (contract, "Revocation frames"). */
  revoke(): void {
    this.#inOrder(() => this.#revoke());
  }

  /** Ends the connection behind what was sent before. */
  close(code: number): void {
    this.#inOrder(() => this.#close(code));
  }

  #revoke(): void {
    this.#write(revocationFrame());
    this.#close(1008);
  }

  #close(code: number): void {
    if (!this.open) return;
    this.#webSocket.close(code);
    this.#closing = setTimeout(() => this.#webSocket.terminate(), closeDeadlineMs);
    this.#closing.unref();
  }

  #write(data: Buffer | string): void {
    if (!this.open) return;
    this.#webSocket.send(data, { binary: typeof data !== 'string' });
    if (this.#webSocket.bufferedAmount > maxBufferedBytes) this.#webSocket.terminate();
  }

  #inOrder(step: () => void): void {
    if (this.#waiting === undefined) step();
    else this.#waiting.push(step);
  }

  #delay(ms: number, frame: Buffer): void {
    this.#waiting = [() => this.#write(frame)];
    this.#delayed = setTimeout(() => {
      const waiting = this.#waiting ?? [];
      this.#waiting = undefined;
      for (const step of waiting) this.#inOrder(step);
    }, ms);
    this.#delayed.unref();
  }

  #damage(fault: NyxdbFaultAction, frame: Buffer): void {
    if (fault.do === 'delay') this.#delay(fault.ms, frame);
    else if (fault.do === 'revoke') this.#revoke();
    else if (fault.do === 'reset') this.#socket.resetAndDestroy();
    else if (fault.do === 'close') this.#close(fault.code);
    else if (fault.do === 'text') this.#write(frame.toString('latin1'));
    else for (const message of damagedFrames(fault, frame)) this.#write(message);
  }
}

/** The messages that stand for a frame; positions as in the contract's "Outer frame". */
function damagedFrames(fault: NyxdbFaultAction, frame: Buffer): Buffer[] {
  const damaged = Buffer.from(frame);
  switch (fault.do) {
    case 'stall':
      return [];
    case 'truncate':
      return [frame.subarray(0, -1)];
    case 'trailing':
      return [Buffer.concat([frame, Buffer.alloc(1)])];
    case 'split':
      return [frame.subarray(0, 21), frame.subarray(21)];
    case 'duplicate':
      return [frame, frame];
    case 'merge':
      return [Buffer.concat([frame, frame])];
    case 'wrongId':
      damaged.set(randomBytes(16), 0);
      return [damaged];
    case 'zeroId':
      damaged.fill(0, 0, 16);
      return [damaged];
    case 'status':
      damaged.writeUInt8(fault.status, 16);
      return [damaged];
    case 'overCap':
      damaged.writeUInt32BE(0xffff_ffff, 17);
      return [damaged.subarray(0, 21)];
    case 'body': {
      const body = Buffer.from(fault.body);
      damaged.writeUInt32BE(body.length, 17);
      return [Buffer.concat([damaged.subarray(0, 21), body])];
    }
    case 'send':
      return [Buffer.from(fault.bytes)];
    default:
      return [frame];
  }
}
