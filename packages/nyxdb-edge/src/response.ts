import { checkFrame, FrameError } from '@nn-runtime/nyxdb/frames';
import type { EndReason } from './ends.js';
import { hasZeroId, isRevocation } from './wire.js';

/**
 * Judges one message of the engine: a whole response, whose id is zero only in the documented revocation.
 *
 * @returns undefined to pass it on; `revoked` to pass it on and end; anything else to end without it.
 */
export function judgeResponse(message: Buffer, maxResponseBytes: number): EndReason | undefined {
  try {
    checkFrame(message, maxResponseBytes);
  } catch (error) {
    return error instanceof FrameError && error.reason === 'over-cap' ? 'over-cap' : 'engine-protocol';
  }
  if (!hasZeroId(message, 0)) return undefined;
  return isRevocation(message) ? 'revoked' : 'engine-protocol';
}
