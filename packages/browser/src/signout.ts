import { announce } from './channel.js';
import { ForbiddenError, ProtocolError } from './errors.js';
import { forgetSignIns } from './loop.js';
import { type CallOptions, call, isRedirect } from './request.js';
import { askSession } from './session.js';
import { LOGOUT_PATH } from './wire.js';

/**
 * Ends the session of this application, in every tab, and makes sure of it (`POST /.nnumbers/auth/logout`, which answers 303).
 * The organization's single sign-on goes on: signing in again may ask for nothing. The page stays where it is; what it shows
 * is the listener's of `onSessionChange` to clear, or `location.assign('/')`'s.
 *
 * @throws ForbiddenError when the platform refused the page's origin, NetworkError when no answer came, ProtocolError when
 * the answer is not the protocol's, or the session is still there afterwards. After any of them: take nobody for signed out.
 */
export const signOut = async (options?: CallOptions): Promise<void> => {
  const response = await call(LOGOUT_PATH, 'POST', options);
  if (response.status === 403) throw new ForbiddenError(response);
  if (!response.ok && !isRedirect(response)) throw new ProtocolError(response);
  forgetSignIns();
  announce();
  // A browser does not show where a redirect leads, and this may be a shared computer: the session itself is asked.
  if ((await askSession('hinted', options)).user) throw new ProtocolError(response);
};
