import { countSignIn } from './loop.js';
import { currentPath, toReturnPath } from './target.js';
import { LOGIN_PATH } from './wire.js';

/**
 * The address of the sign-in, as a path of this origin: for a link, or for {@link signIn}.
 *
 * @param returnTo where to come back to: a path or URL of this origin; query and hash are kept, at most 2,048 characters as
 * written in a URL. Default: where the page is now.
 * @throws TypeError when it is not of this origin, holds control characters, begins with `//` or `/\`, or is too long.
 */
export const signInUrl = (returnTo?: string | URL): string =>
  `${LOGIN_PATH}?return_to=${encodeURIComponent(returnTo === undefined ? currentPath() : toReturnPath(returnTo))}`;

/**
 * Leaves for the sign-in of the organization, and comes back to `returnTo`. With single sign-on nobody is asked for anything.
 * The page goes on running for a moment after this returns.
 *
 * @param returnTo as for {@link signInUrl}.
 * @throws TypeError as {@link signInUrl} does; SignInLoopError at the fourth call in this tab within a minute that no
 * `signOut` interrupted, or at the first one where the browser refuses the page its sessionStorage. A link to
 * {@link signInUrl} is never stopped: offer one then.
 */
export const signIn = (returnTo?: string | URL): void => {
  const url = signInUrl(returnTo);
  countSignIn();
  location.assign(url);
};
