import type { Fault } from './errors.js';

/**
 * The life of one call, as everything waiting on its behalf sees it: it ends once, with the fault that ended it.
 * Not an AbortController: one of those per call costs more than the framing of the call.
 */
export class Scope {
  #fault: Fault | undefined;
  readonly #listeners = new Set<(fault: Fault) => void>();

  /** What ended it; undefined while it lasts. */
  get fault(): Fault | undefined {
    return this.#fault;
  }

  /** Ends it. The first fault counts. */
  end(fault: Fault): void {
    if (this.#fault !== undefined) return;
    this.#fault = fault;
    for (const listener of this.#listeners) listener(fault);
    this.#listeners.clear();
  }

  /** Hears of an end still to come; the returned function stops listening. */
  onEnd(listener: (fault: Fault) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
