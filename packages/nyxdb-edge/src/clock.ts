/** Time as the edge sees it. Handed in, so that a test needs no sleep. */
export interface Clock {
  /** Milliseconds since some fixed moment; never goes back. */
  now(): number;
  /** Calls `run` once after `delayMs`; the returned function prevents it. */
  after(delayMs: number, run: () => void): () => void;
}

/** The host's own clock: monotonic, so that a corrected wall clock moves no deadline. */
export const systemClock: Clock = {
  now: () => performance.now(),
  after(delayMs, run) {
    const timer = setTimeout(run, delayMs);
    return () => clearTimeout(timer);
  },
};

/** Randomness as the edge uses it. Handed in for tests. */
export interface RandomSource {
  /** Fills the array with cryptographic random bytes: the request ids of the edge's own OP_AUTH. */
  fill(bytes: Uint8Array<ArrayBuffer>): unknown;
  /** A number from 0 (inclusive) to 1 (exclusive): jitter, nothing secret. */
  fraction(): number;
}

/** The host's own randomness. */
export const systemRandom: RandomSource = {
  fill: (bytes) => crypto.getRandomValues(bytes),
  fraction: Math.random,
};
