import type { Channel } from './channel.js';
import type { Fault } from './errors.js';
import type { Link } from './link.js';

/**
 * The life of one call, as everything waiting on its behalf sees it: it ends once, with the fault that ended it.
 * Not an AbortController: one of those per call costs more than the framing of the call.
 */
export class Scope {
  /** What ended it; undefined while it lasts. */
  declare fault: Fault | undefined;
  /** The newest socket opened on its behalf. */
  declare channel: Channel | undefined;
  readonly #listeners = new Set<(fault: Fault) => void>();
  /** It is done: nothing will end it any more, and nothing holds it. */
  declare readonly leave: () => void;

  /** @param signal - ends it in CANCELLED. */
  constructor(link: Link, signal?: AbortSignal) {
    const onAbort = (): void => this.end({ code: 'CANCELLED', cause: signal?.reason });
    // First: what is no signal throws here, and must leave nothing behind that cannot be ended.
    signal?.addEventListener('abort', onAbort);
    link.scopes.add(this);
    this.leave = () => {
      link.scopes.delete(this);
      signal?.removeEventListener('abort', onAbort);
    };
  }

  /** Ends it. The first fault counts. */
  end(fault: Fault): void {
    this.leave();
    if (this.fault) return;
    this.fault = fault;
    for (const listener of this.#listeners) listener(fault);
  }

  /** Hears of an end still to come; the returned function stops listening. */
  onEnd(listener: (fault: Fault) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
