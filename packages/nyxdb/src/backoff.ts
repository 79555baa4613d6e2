import type { RandomSource } from './clock.js';
import type { Backoff } from './options.js';

/**
 * Full jitter: anything from zero to the doubled, capped base, so that clients which lost the same engine do not come
 * back together.
 *
 * @param attempt - from 1: how many attempts failed.
 * @returns milliseconds.
 */
export const backoffMs = (backoff: Backoff, attempt: number, random: RandomSource): number =>
  random.fraction() * Math.min(backoff.maxMs, backoff.baseMs * 2 ** (attempt - 1));
