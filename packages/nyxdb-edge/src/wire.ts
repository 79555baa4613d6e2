import { encodeText, REQUEST_ID_BYTES, STATUS_ERROR } from '@nn-runtime/nyxdb/frames';

export {
  HEADER_BYTES,
  OP_AUTH,
  OP_CANCEL_REQUEST,
  OP_CAPABILITY,
  OP_ENDPOINT_EXEC,
  OP_ENDPOINT_SUB,
  REQUEST_ID_BYTES,
  STATUS_ERROR,
  STATUS_OK,
} from '@nn-runtime/nyxdb/frames';

/** The subprotocol by which client and edge agree that the edge authenticates. Ours: never offered to an engine. */
export const EDGE_AUTH_PROTOCOL = 'nyxdb.edge-auth.v1';

const REVOKED = encodeText('auth revoked');
const REVOCATION = Buffer.concat([
  Buffer.alloc(REQUEST_ID_BYTES),
  Buffer.from([STATUS_ERROR, 0, 0, 0, REVOKED.length]),
  REVOKED,
]);

/** Whether a message is the documented revocation, byte for byte (contract, "Revocation frames"). */
export const isRevocation = (message: Buffer): boolean => message.equals(REVOCATION);

const ZERO_ID = Buffer.alloc(REQUEST_ID_BYTES);

/** Whether the id that begins at this offset is all zeros: revocation's, and of nothing else. */
export const hasZeroId = (message: Buffer, offset: number): boolean =>
  // What almost every message is told by.
  message.readInt32LE(offset) === 0 &&
  message.compare(ZERO_ID, 0, REQUEST_ID_BYTES, offset, offset + REQUEST_ID_BYTES) === 0;
