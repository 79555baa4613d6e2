import { errorText, RequestError } from './nyxdb-error.js';

export interface AdmissionLimits {
  /** Requests that run at the same time. */
  readonly concurrent: number;
  /** Requests that may wait for that; one more is rejected. */
  readonly queued: number;
  /** How long one may wait, in milliseconds. */
  readonly admissionMs: number;
}

/**
 * The bounded query admission. Its two error texts are published (contract, "Sanitized application errors"), its
 * limits are not: they are ours.
 */
export class Admission {
  readonly #limits: AdmissionLimits;
  #running = 0;
  readonly #queue: (() => void)[] = [];

  constructor(limits: AdmissionLimits) {
    this.#limits = limits;
  }

  /**
   * Runs a task once it is admitted.
   *
   * @throws RequestError when the queue is full, when the wait is over, or when the signal fires while it waits
   */
  async run<Result>(task: () => Promise<Result>, signal: AbortSignal): Promise<Result> {
    if (signal.aborted) throw new RequestError(errorText.cancelled);
    if (this.#running < this.#limits.concurrent) this.#running++;
    else await this.#wait(signal);
    try {
      return await task();
    } finally {
      // The place goes to the next one in the queue without becoming free in between.
      const next = this.#queue.shift();
      if (next === undefined) this.#running--;
      else next();
    }
  }

  #wait(signal: AbortSignal): Promise<void> {
    if (this.#queue.length >= this.#limits.queued)
      return Promise.reject(new RequestError(errorText.busyRejected));
    return new Promise((resolve, reject) => {
      const settle = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', onAbort);
      };
      const admitted = () => {
        settle();
        resolve();
      };
      const leave = (text: 'busyTimedOut' | 'cancelled') => {
        settle();
        this.#queue.splice(this.#queue.indexOf(admitted), 1);
        reject(new RequestError(errorText[text]));
      };
      const onAbort = () => leave('cancelled');
      const timer = setTimeout(() => leave('busyTimedOut'), this.#limits.admissionMs);
      signal.addEventListener('abort', onAbort, { once: true });
      this.#queue.push(admitted);
    });
  }
}
