import {
  authText,
  createRequestIds,
  encodeRequest,
  encodeResponse,
  encodeText,
  OP_AUTH,
  REQUEST_ID_BYTES,
  STATUS_ERROR,
  STATUS_OK,
} from '@nn-runtime/nyxdb/frames';
import type { RandomSource } from './clock.js';
import type { EndReason } from './ends.js';

/** One authentication of the edge's own: its frame, and what an answer to it means. */
export interface EngineAuthentication {
  readonly frame: Uint8Array;
  /** @returns undefined when the connection is authenticated, else why the relay ends. The answer is never passed on. */
  judge(message: Buffer): EndReason | undefined;
}

const AUTHENTICATED = encodeText('authenticated\n');

/**
 * OP_AUTH for what `authenticate` gave (contract, "Authenticate an application user").
 *
 * @throws TypeError for credentials that cannot be framed; its message quotes nothing of them.
 */
export function authenticateWith(unverified: unknown, random: RandomSource): EngineAuthentication {
  const { provider, token } = unverified as { provider: string | null; token: string };
  const payload = encodeText(authText(provider, token));
  const id = createRequestIds((bytes) => random.fill(bytes))();
  const authenticated = encodeResponse(id, STATUS_OK, AUTHENTICATED);
  return {
    frame: encodeRequest(OP_AUTH, id, payload),
    judge(message) {
      if (message.equals(authenticated)) return undefined;
      const isOurs = message.subarray(0, REQUEST_ID_BYTES).equals(id);
      // Whatever it is that the engine does not like, a client is not told.
      return isOurs && message[REQUEST_ID_BYTES] === STATUS_ERROR ? 'engine-refused' : 'engine-protocol';
    },
  };
}
