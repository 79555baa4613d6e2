import type { EndReason } from './ends.js';
import { frameFault, hasZeroId, isRevocation } from './wire.js';

/**
 * Judges one message of the engine: a whole response, whose id is zero only in the documented revocation.
 *
 * @returns undefined to pass it on; `revoked` to pass it on and end; anything else to end without it.
 */
export function judgeResponse(message: Buffer, maxResponseBytes: number): EndReason | undefined {
  const fault = frameFault(message, maxResponseBytes);
  if (fault !== undefined) return fault === 'over-cap' ? fault : 'engine-protocol';
  if (!hasZeroId(message, 0)) return undefined;
  return isRevocation(message) ? 'revoked' : 'engine-protocol';
}
