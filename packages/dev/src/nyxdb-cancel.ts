/** A one-shot request that has not been answered. */
export interface Cancellable {
  /** The engine's own number for it, from 1. */
  readonly queryId: number;
  cancel(): void;
}

/**
 * The one-shot requests that wait or run, by request id. They are registered before admission, so that cancellation
 * reaches a queued one (contract, "Cancel an executing one-shot").
 */
export class Cancellables {
  readonly #byId = new Map<string, Set<Cancellable>>();
  #lastQueryId = 0;

  /** Registers a request; the function returned takes it out again. */
  register(id: Buffer, cancel: () => void): () => void {
    const key = id.toString('hex');
    const entry: Cancellable = { queryId: ++this.#lastQueryId, cancel };
    const entries = this.#byId.get(key) ?? new Set();
    this.#byId.set(key, entries.add(entry));
    return () => {
      entries.delete(entry);
      if (entries.size === 0) this.#byId.delete(key);
    };
  }

  /**
   * Asks for the end of one request. The body of the acknowledgement: query id 0 for a target that is "missing, stale,
   * zero, or not uniquely registered".
   */
  cancel(target: Buffer): string {
    const [entry, ...others] = this.#byId.get(target.toString('hex')) ?? [];
    const found = entry !== undefined && others.length === 0;
    if (found) entry.cancel();
    return `query_id\tcancel_requested\n${found ? entry.queryId : 0}\t${found ? 1 : 0}\n`;
  }
}
