import { must } from './require.js';

/** Time as the client sees it. Handed in, so that a test needs no sleep. */
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

/** Randomness as the client uses it. Handed in for tests. */
export interface RandomSource {
  /** Fills the array with cryptographic random bytes: request ids. */
  fill(bytes: Uint8Array<ArrayBuffer>): unknown;
  /** A number from 0 (inclusive) to 1 (exclusive): jitter, nothing secret. */
  fraction(): number;
}

/**
 * The host's own randomness. `getRandomValues` is there in insecure contexts too, where `randomUUID` is not.
 *
 * @throws TypeError where there is none: ids from `Math.random` could be guessed, and with them other people's queries cancelled.
 */
export function systemRandom(): RandomSource {
  must(globalThis.crypto?.getRandomValues, 'no crypto.getRandomValues');
  return { fill: (bytes) => crypto.getRandomValues(bytes), fraction: Math.random };
}
