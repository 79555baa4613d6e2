// The platform refuses a longer one (design P3).
const MAX_CHARACTERS = 2048;

/**
 * The `return_to` of a sign-in: path, query and hash of a URL of this very address.
 *
 * @throws TypeError for anything else. The value is never in the message: it may come from an attacker's link.
 */
export const toReturnPath = (returnTo: string | URL): string => {
  const text = String(returnTo);
  // The URL parser drops tabs and line breaks and reads a backslash as a slash, so that `/\tevil` and `/\evil` become another
  // host: such text is an attack, wherever it would lead. `//` is one for every reader that joins strings.
  if (/\p{Cc}/u.test(text) || /^\s*[\\/]{2}/.test(text)) throw new TypeError('returnTo is not a path');
  const page = new URL(location.href);
  const url = URL.canParse(text, page) ? new URL(text, page) : undefined;
  // `blob:` URLs have the origin of the page that made them, so the scheme is compared too.
  if (url?.origin !== page.origin || url.protocol !== page.protocol) {
    throw new TypeError('returnTo is not of this origin');
  }
  const path = url.pathname + url.search + url.hash;
  // `/.//evil` has become `//evil` by now.
  if (path.startsWith('//')) throw new TypeError('returnTo is not a path');
  if (path.length > MAX_CHARACTERS) throw new TypeError('returnTo is too long');
  return path;
};

/** Where the page is now, or `/` where that cannot be come back to. */
export const currentPath = (): string => {
  try {
    return toReturnPath(location.href);
  } catch {
    return '/';
  }
};
