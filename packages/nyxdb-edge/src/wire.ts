import {
  checkFrame,
  encodeResponse,
  encodeText,
  FrameError,
  REQUEST_ID_BYTES,
  STATUS_ERROR,
} from '@nn-runtime/nyxdb/frames';

/** What is wrong with the outer frame of a message (contract, "Outer frame"): more than is taken, or not one whole frame; undefined when nothing is. */
export function frameFault(message: Buffer, maxPayloadBytes: number): 'over-cap' | 'malformed' | undefined {
  try {
    checkFrame(message, maxPayloadBytes);
    return undefined;
  } catch (error) {
    return error instanceof FrameError && error.reason === 'over-cap' ? 'over-cap' : 'malformed';
  }
}

const ZERO_ID = Buffer.alloc(REQUEST_ID_BYTES);
const REVOCATION = encodeResponse(ZERO_ID, STATUS_ERROR, encodeText('auth revoked'));

/** Whether a message is the documented revocation, byte for byte (contract, "Revocation frames"). */
export const isRevocation = (message: Buffer): boolean => message.equals(REVOCATION);

/** Whether the id that begins at this offset is all zeros: revocation's, and of nothing else. */
export const hasZeroId = (message: Buffer, offset: number): boolean =>
  // What almost every message is told by.
  message.readInt32LE(offset) === 0 &&
  message.compare(ZERO_ID, 0, REQUEST_ID_BYTES, offset, offset + REQUEST_ID_BYTES) === 0;
