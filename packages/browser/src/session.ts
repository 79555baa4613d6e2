import { ProtocolError } from './errors.js';
import { nextTurn, note, type Reason } from './known.js';
import { type CallOptions, read } from './request.js';
import { isSession, type Session } from './shape.js';
import { SESSION_PATH } from './wire.js';

/** Asks the platform who is signed in, and notes the answer. */
export const askSession = async (reason: Reason, options?: CallOptions): Promise<Session> => {
  const turn = nextTurn();
  const [unverified, response] = await read(SESSION_PATH, options);
  if (!isSession(unverified)) throw new ProtocolError(response);
  note(unverified, turn, reason);
  return unverified;
};

/**
 * Who is signed in now, asked of the platform each time (`GET /.nnumbers/auth/session`). `user` is null when nobody is:
 * that is an answer, not an error.
 *
 * @throws NetworkError when no answer came, ProtocolError when it is not the protocol's, ForbiddenError on 403,
 * SignedOutError on 401.
 */
export const getSession = (options?: CallOptions): Promise<Session> => askSession('asked', options);
