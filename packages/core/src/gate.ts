import { QueryMeshError } from './errors.js';

/** The bounds of a {@link QueryGate}. */
export interface GateOptions {
  readonly maxConcurrentQueries: number;
  readonly maxQueuedQueries: number;
  readonly maxQueueMs: number;
}

/**
 * Lets so many queries through at once, and so many wait for so long. Without it a slow QueryMesh would pile up the requests of a
 * busy application until both fall over; with it, what cannot be served soon is told so at once.
 */
export class QueryGate {
  readonly #options: GateOptions;
  readonly #waiting = new Set<() => void>();
  #inside = 0;

  constructor(options: GateOptions) {
    this.#options = options;
  }

  /**
   * Waits for a turn. Gives what must be called when the query is over.
   * @throws QueryMeshError QUERYMESH_UNAVAILABLE when the queue is full or the turn does not come in time. When the signal aborts the turn is given
   * up and nothing is said: whoever aborts knows why.
   */
  enter(signal: AbortSignal): Promise<() => void> {
    if (this.#inside < this.#options.maxConcurrentQueries) {
      this.#inside += 1;
      return Promise.resolve(this.#leave());
    }
    if (this.#waiting.size >= this.#options.maxQueuedQueries) {
      return Promise.reject(new QueryMeshError('QUERYMESH_UNAVAILABLE'));
    }
    return new Promise((resolve, reject) => {
      const stop = (): void => {
        this.#waiting.delete(turn);
        clearTimeout(timer);
        signal.removeEventListener('abort', giveUp);
      };
      const giveUp = (): void => {
        stop();
        reject(new QueryMeshError('QUERYMESH_UNAVAILABLE'));
      };
      const turn = (): void => {
        stop();
        resolve(this.#leave());
      };
      const timer = setTimeout(giveUp, this.#options.maxQueueMs);
      signal.addEventListener('abort', giveUp, { once: true });
      this.#waiting.add(turn);
    });
  }

  // The place is handed to the next in line, so that nobody new slips in between.
  #leave(): () => void {
    return () => {
      const [next] = this.#waiting;
      if (next === undefined) this.#inside -= 1;
      else next();
    };
  }
}
