import type { WebSocket } from 'ws';

/** Pings without an answer after which a side is taken for gone. */
const MAX_MISSED = 2;

/** Whether one side of a relay is still there: browsers cannot ping, and the contract has no operation for it. */
export class Heartbeat {
  readonly #socket: WebSocket;
  #missed = 0;

  constructor(socket: WebSocket) {
    this.#socket = socket;
    const heard = (): void => {
      this.#missed = 0;
    };
    socket.on('pong', heard);
    socket.on('message', heard);
  }

  /**
   * Pings.
   *
   * @param mayBeBusy - whether it may have a reason not to answer now.
   * @returns false when it is gone.
   */
  beat(mayBeBusy: boolean): boolean {
    if (mayBeBusy) this.#missed = 0;
    if (this.#missed >= MAX_MISSED) return false;
    this.#missed++;
    this.#socket.ping();
    return true;
  }
}
