/** A clock that stands still until it is told to move, so that no test sleeps. */
export class ManualClock {
  nowMs = 0;
  readonly #timers = new Set<{ readonly dueMs: number; readonly run: () => void }>();

  /** How many timers are set. */
  get pending(): number {
    return this.#timers.size;
  }

  now(): number {
    return this.nowMs;
  }

  after(delayMs: number, run: () => void): () => void {
    const timer = { dueMs: this.nowMs + delayMs, run };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  /** Moves on, running what falls due in its order. */
  advance(ms: number): void {
    const untilMs = this.nowMs + ms;
    for (;;) {
      const due = [...this.#timers]
        .filter((timer) => timer.dueMs <= untilMs)
        .sort((one, other) => one.dueMs - other.dueMs)[0];
      if (due === undefined) break;
      this.#timers.delete(due);
      this.nowMs = Math.max(this.nowMs, due.dueMs);
      due.run();
    }
    this.nowMs = untilMs;
  }
}

/** Resolves when the condition holds: looked at again after every turn of the event loop. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setImmediate(resolve));
}
