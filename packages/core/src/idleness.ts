import { Agent, type ClientRequest, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

/** How long a connection may wait for its next use when its server does not say, in milliseconds: as `fetch` has it. */
const UNTOLD_MS = 4_000;

/** The same when it does (`Keep-Alive: timeout=…`), at most. */
const MOST_MS = 60_000;

/** How long before the server's own time is up a connection is given up: what is sent as the server closes is lost. */
const MARGIN_MS = 1_000;

/** What is known of a connection. */
interface Idle {
  limitMs: number;
  sinceMs: number;
}

/**
 * Decides which connections of an agent are kept after an answer. A query that was sent on a connection as its server closed it may or may
 * not have run, and is not sent again by itself; so none is used that may be about to close.
 */
export class Idleness {
  readonly #idle = new WeakMap<object, Idle>();
  readonly #closing = new WeakMap<Socket, Promise<void>>();

  /** Puts an agent under these rules. */
  watch<A extends Agent>(agent: A): A {
    const keepSocketAlive = (socket: Socket): boolean => {
      const idle = this.#idle.get(socket);
      if (idle === undefined || idle.limitMs <= 0) return false;
      idle.sinceMs = performance.now();
      // Passed while it is idle, the agent closes it.
      socket.setTimeout(idle.limitMs);
      // Bytes that nobody asked for would be taken for the answer to the next question: somebody else's rows.
      socket.once('data', destroy);
      // An idle connection keeps no process alive.
      socket.setKeepAlive(true, MARGIN_MS).unref();
      return true;
    };
    const reuseSocket = (socket: Socket, request: ClientRequest): void => {
      socket.off('data', destroy).setTimeout(0);
      Agent.prototype.reuseSocket.call(agent, socket, request);
    };
    return Object.assign(agent, { keepSocketAlive, reuseSocket });
  }

  /** Reads how long the server of an answer keeps its connection. */
  learn({ socket, headers }: IncomingMessage): void {
    const seconds = /(?:^|[\s,])timeout=(\d{1,6})(?![\d.])/i.exec(String(headers['keep-alive']))?.[1];
    const limitMs = seconds === undefined ? UNTOLD_MS : Number(seconds) * 1_000 - MARGIN_MS;
    this.#idle.set(socket, { limitMs: Math.min(limitMs, MOST_MS), sinceMs: 0 });
  }

  /**
   * Closes what has idled for too long. Timers do that; but a process that was busy for seconds has not run them, nor seen what its servers
   * closed meanwhile, when it asks next.
   */
  async dropOverdue(agent: Agent): Promise<void> {
    const nowMs = performance.now();
    const overdue = Object.values(agent.freeSockets)
      .flatMap((sockets) => sockets ?? [])
      .filter((socket) => {
        const idle = this.#idle.get(socket);
        return idle === undefined || nowMs - idle.sinceMs > idle.limitMs;
      });
    // Only when it is closed does the agent forget it.
    await Promise.all(overdue.map((socket) => this.#close(socket)));
  }

  // Many questions may come before it is closed, and share one listener: of eleven Node warns as of a leak.
  #close(socket: Socket): Promise<void> {
    const closing =
      this.#closing.get(socket) ??
      new Promise<void>((resolve) => {
        socket.once('close', () => resolve()).destroy();
      });
    this.#closing.set(socket, closing);
    return closing;
  }
}

function destroy(this: Socket): void {
  this.destroy();
}
