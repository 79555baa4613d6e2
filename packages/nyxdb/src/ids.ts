import { isZero } from './decode.js';
import type { Bytes } from './encode.js';
import { must } from './require.js';
import { REQUEST_ID_BYTES } from './wire.js';

// One call of the random source costs about as much for 4 KiB as for 16 bytes.
const POOL_BYTES = 4096;

/**
 * A source of request ids: 16 fresh random bytes each, never all zero (contract, "Outer frame": the zero id belongs to
 * revocation).
 *
 * @param fill - fills the array with bytes of a cryptographic random source, as `crypto.getRandomValues` does.
 * @throws TypeError, from the source, when it gives nothing but zeros.
 */
export function createRequestIds(fill: (bytes: Bytes) => unknown): () => Bytes {
  const pool = new Uint8Array(POOL_BYTES);
  let next = POOL_BYTES;
  return () => {
    // So many zeros are no accident of a random source.
    for (let tries = 0; tries < POOL_BYTES; tries++) {
      if (next === POOL_BYTES) {
        // Wiped, so that a random source that does nothing is seen, and does not give the ids of before.
        pool.fill(0);
        fill(pool);
        next = 0;
      }
      // A copy: the pool is filled again while ids given out are still in flight.
      const id = pool.slice(next, next + REQUEST_ID_BYTES);
      next += REQUEST_ID_BYTES;
      if (!isZero(id)) return id;
    }
    must(false, 'random is 0');
  };
}
