/**
 * Why a relay ends, and the close code its client is told. Ours: the contract names none. Browsers and undici let a client send
 * only 1000 and 3000–4999, so everything that is about one relay is there; the codes that RFC 6455 section 7.4.1 reserves are
 * never sent. The reason travels beside the code; it names a rule, never what broke it.
 */
export const END_CODES = {
  /** The engine closed without complaint. */
  'engine-closed': 1000,
  /** This process is shutting down: come back, somebody else answers. */
  'going-away': 1001,
  /** The client's: a text message; bytes that are no request, or two; a zero id; a cancel payload that is not 16 bytes. */
  'text-message': 4002,
  malformed: 4002,
  /** Nothing is heard of the client, or an anonymous one did not authenticate in time. */
  silent: 4008,
  unauthenticated: 4008,
  /** A request declares, or an engine says, more than is taken. */
  'over-cap': 4009,
  /** The relay lived long enough: come back with a fresh identity. */
  renew: 4401,
  /** The engine revoked the token; its frame went before. */
  revoked: 4401,
  /** An operation that is not passed on, or OP_AUTH of another shape than an application user's, or a second one. */
  operation: 4403,
  /** `authenticate` has no token for this person. */
  'no-token': 4403,
  /** The client does not read, or the engine does not. */
  'slow-client': 4408,
  'slow-engine': 4408,
  /** More sockets than a person may have, or more bytes before the engine is ready than are held. */
  'too-many-sockets': 4429,
  'too-early': 4429,
  /** The engine refused the handshake or the token, or said what the contract does not have. */
  'engine-refused': 4502,
  'engine-protocol': 4502,
  /** The engine cannot be reached, or was lost; `authenticate` failed. */
  'engine-unreachable': 4503,
  'engine-lost': 4503,
  'token-unavailable': 4503,
  /** The engine, or `authenticate`, did not answer in time. */
  'engine-late': 4504,
  'token-late': 4504,
} as const;

/** A reason the edge itself has for ending a relay. */
export type EndReason = keyof typeof END_CODES;
