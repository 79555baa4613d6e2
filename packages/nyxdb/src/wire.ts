/** Numbers that cross the wire (contract, "Outer frame" and the operations it names). No imports. */

/** Asks for wire-v2 before authentication. Its payload is not published: only a profile that knows it may send it. */
export const OP_CAPABILITY = 0x0f;
/** Authenticates the connection, once. */
export const OP_AUTH = 0x09;
/** Asks for the cooperative cancellation of a one-shot request, from another connection. */
export const OP_CANCEL_REQUEST = 0x0a;
/** Runs a published endpoint, or a granted logical view, once. */
export const OP_ENDPOINT_EXEC = 0x0b;
/** Subscribes to a published stream endpoint. */
export const OP_ENDPOINT_SUB = 0x0c;

/** The subprotocol by which client and edge agree that the edge authenticates. Ours: the contract has none. */
export const EDGE_PROTOCOL = 'nyxdb.edge-auth.v1';

/** Success: terminal for a one-shot request. */
export const STATUS_OK = 0x00;
/** A short, sanitized error. */
export const STATUS_ERROR = 0x01;

/** Length of a request id, in bytes. */
export const REQUEST_ID_BYTES = 16;
/** Length of everything before the payload, in bytes; the same for requests and responses. */
export const HEADER_BYTES = 21;
/** Offset of the payload length in both directions. */
export const LENGTH_OFFSET = 17;
