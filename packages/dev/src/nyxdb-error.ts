/**
 * Error bodies, all with status 0x01. The first five are published (contract, "Authenticate an application user",
 * "Subscribe to a published query", "Sanitized application errors", "Revocation frames"). Those with `dev: ` are ours:
 * the contract's table of application errors is not published, and such a prefix is mistaken for no real text.
 */
export const errorText = {
  authFailed: 'auth failed',
  invalidParameter: 'invalid parameter',
  busyRejected: 'server busy: query admission rejected',
  busyTimedOut: 'server busy: query admission timed out',
  /** With `requireAuth`, an operation before OP_AUTH succeeded. */
  notAuthenticated: 'dev: not authenticated',
  /** Neither an endpoint nor a view has this name. */
  unknownEndpoint: 'dev: unknown endpoint',
  /** A view without the grant that the operation needs. */
  notGranted: 'dev: not granted',
  /** One subscription, or one running call, too many for this user. */
  quotaExceeded: 'dev: quota exceeded',
  /** The statement failed in the database; why is not said to clients. */
  queryFailed: 'dev: query failed',
  /** More rows, or more bytes, than the engine sends. */
  resultTooLarge: 'dev: result too large',
  /** A cell with tab, LF or CR: the contract publishes no escape (design N10). */
  cellRefused: 'dev: cell not representable',
  /** The terminal response of a request that was cancelled. */
  cancelled: 'dev: cancelled',
  /** OP 0x0F: its payload is not published. */
  capability: 'dev: capability not supported',
  /** An operation byte that the contract does not name. */
  unknownOperation: 'dev: unknown operation',
  /** A request on the connection of a live subscription, which is dedicated to it. */
  subscribed: 'dev: connection is subscribed',
} as const;
export type ErrorText = (typeof errorText)[keyof typeof errorText];

/** Ends a request with this text as its error body. */
export class RequestError extends Error {
  readonly text: ErrorText;

  constructor(text: ErrorText) {
    super(text);
    this.text = text;
  }
}
