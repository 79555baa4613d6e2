/** When the key store may ask for keys: after failures, and for the sake of unknown key IDs. The clocks here never go back. */

/** Grows after each failure, with jitter, so that many processes do not return to a sick broker in step (design I6). */
export class Backoff {
  static readonly #firstMs = 1_000;
  static readonly #maxMs = 60_000;
  readonly #now: () => number;
  readonly #random: () => number;
  #failures = 0;
  #failedAtMs = 0;
  #pauseMs = 0;

  constructor(now: () => number, random: () => number) {
    this.#now = now;
    this.#random = random;
  }

  /** Whether a fetch may start now. */
  allows(): boolean {
    return this.#now() - this.#failedAtMs >= this.#pauseMs;
  }

  succeeded(): void {
    this.#failures = 0;
    this.#pauseMs = 0;
  }

  failed(): void {
    const ceilingMs = Math.min(Backoff.#maxMs, Backoff.#firstMs * 2 ** this.#failures);
    this.#failures = Math.min(this.#failures + 1, 16);
    this.#failedAtMs = this.#now();
    this.#pauseMs = ceilingMs * (0.5 + this.#random() / 2);
  }
}

/**
 * The budget of fetches that unknown key IDs may start: three in hand and one more every ten seconds, counting attempts
 * (design I8). Whoever sends junk decides how often this is asked; it decides how often the broker is.
 */
export class FloodBudget {
  static readonly #capacity = 3;
  static readonly #refillMs = 10_000;
  readonly #now: () => number;
  #tokens = FloodBudget.#capacity;
  #countedAtMs: number;

  constructor(now: () => number) {
    this.#now = now;
    this.#countedAtMs = now();
  }

  /** Takes one attempt out of the budget, if there is one. */
  take(): boolean {
    const elapsedMs = this.#now() - this.#countedAtMs;
    const earned = Math.floor(elapsedMs / FloodBudget.#refillMs);
    if (this.#tokens + earned >= FloodBudget.#capacity) {
      this.#tokens = FloodBudget.#capacity;
      this.#countedAtMs = this.#now();
    } else {
      this.#tokens += earned;
      this.#countedAtMs += earned * FloodBudget.#refillMs;
    }
    if (this.#tokens === 0) return false;
    this.#tokens -= 1;
    return true;
  }
}

/** Key IDs that were looked for a moment ago and were not there. Bounded, since a stranger fills it (design I8). */
export class MissingKeyIds {
  static readonly #maxEntries = 256;
  static readonly #maxAgeMs = 10_000;
  readonly #now: () => number;
  readonly #missedAtMs = new Map<string, number>();

  constructor(now: () => number) {
    this.#now = now;
  }

  add(keyId: string): void {
    this.#missedAtMs.delete(keyId);
    this.#missedAtMs.set(keyId, this.#now());
    if (this.#missedAtMs.size > MissingKeyIds.#maxEntries) {
      const [oldest] = this.#missedAtMs.keys();
      if (oldest !== undefined) this.#missedAtMs.delete(oldest);
    }
  }

  has(keyId: string): boolean {
    const missedAtMs = this.#missedAtMs.get(keyId);
    if (missedAtMs === undefined) return false;
    if (this.#now() - missedAtMs < MissingKeyIds.#maxAgeMs) return true;
    this.#missedAtMs.delete(keyId);
    return false;
  }

  /** Forgets what a good answer contains. */
  clear(keyIds: Iterable<string>): void {
    for (const keyId of keyIds) this.#missedAtMs.delete(keyId);
  }
}
