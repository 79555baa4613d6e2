import type { WebSocket } from 'ws';
import type { Settings } from './options.js';

/** A client that reads slowly takes a large message piece by piece; each piece taken is progress that is seen. */
const PIECE_BYTES = 262_144;

const WHOLE = { binary: true, fin: true };
const PIECE = { binary: true, fin: false };

/**
 * One direction of a relay. While its reader lags, its writer is paused, so that no more than the high-water mark and one message wait
 * here, whatever the other side sends; a reader that takes nothing for `stalledMs` is given up.
 */
export class Pump {
  readonly #from: WebSocket;
  readonly #to: WebSocket;
  readonly #settings: Settings;
  readonly #onStalled: () => void;
  readonly #pieceBytes: number;
  #paused = false;
  #stop = (): void => {};

  /** @param inPieces - whether large messages go as several WebSocket fragments. */
  constructor(from: WebSocket, to: WebSocket, settings: Settings, inPieces: boolean, onStalled: () => void) {
    this.#from = from;
    this.#to = to;
    this.#settings = settings;
    this.#pieceBytes = inPieces ? PIECE_BYTES : Number.POSITIVE_INFINITY;
    this.#onStalled = onStalled;
  }

  /** Whether the writer is paused. */
  get isPaused(): boolean {
    return this.#paused;
  }

  /** Sends one message as one message. */
  send(message: Buffer): void {
    const to = this.#to;
    const { highWaterBytes, lowWaterBytes } = this.#settings.limits;
    if (message.length <= this.#pieceBytes && to.bufferedAmount + message.length <= lowWaterBytes) {
      // The usual case: nothing lags, so nobody has to be told when it was taken.
      to.send(message, WHOLE);
      return;
    }
    const end = message.length - this.#pieceBytes;
    let at = 0;
    for (; at < end; at += this.#pieceBytes)
      to.send(message.subarray(at, at + this.#pieceBytes), PIECE, this.#taken);
    to.send(at === 0 ? message : message.subarray(at), WHOLE, this.#taken);
    if (this.#paused || to.bufferedAmount <= highWaterBytes) return;
    this.#paused = true;
    this.#from.pause();
    this.#wait();
  }

  /** Nothing is waited for any more. */
  stop(): void {
    this.#stop();
    this.#paused = false;
  }

  readonly #taken = (): void => {
    if (!this.#paused) return;
    this.#stop();
    if (this.#to.bufferedAmount > this.#settings.limits.lowWaterBytes) {
      this.#wait();
      return;
    }
    this.#paused = false;
    this.#from.resume();
  };

  #wait(): void {
    const { clock, deadlines } = this.#settings;
    this.#stop = clock.after(deadlines.stalledMs, this.#onStalled);
  }
}
