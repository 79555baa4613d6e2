/**
 * The platform's cookies. Browsers keep cookies by host, not by port, and every edge and the IAM are on the same
 * host: the port is in the name, and one prefix marks them all, so that no edge forwards any of them (design P1).
 */
const prefix = '__nnumbers_';

/** The application session's cookie at the edge of this port. */
export const sessionCookie = (port: number): string => `${prefix}session_${port}`;
/** The cookie of one sign-in attempt: two tabs may sign in at once, so each attempt has its own. */
export const attemptCookie = (port: number, state: string): string =>
  `${prefix}signin_${port}_${state.slice(0, 16)}`;
/** The IAM's cookies: single sign-on, interaction and resume. */
export const iamCookie = (port: number, use: string): string => `${prefix}iam_${port}_${use}`;

function pairs(header: string | undefined): { name: string; value: string; text: string }[] {
  return (header ?? '').split(';').map((text) => {
    const equals = text.indexOf('=');
    return equals < 0
      ? { name: '', value: text.trim(), text }
      : { name: text.slice(0, equals).trim(), value: text.slice(equals + 1).trim(), text };
  });
}

/** The value of a cookie of the request, the first one when there are several (RFC 6265 section 5.4 order). */
export function readCookie(header: string | undefined, name: string): string | undefined {
  return pairs(header).find((pair) => pair.name === name)?.value;
}

/** The Cookie header without the platform's cookies; undefined when nothing is left. */
export function withoutPlatformCookies(header: string | undefined): string | undefined {
  const kept = pairs(header).filter((pair) => !isPlatformCookie(pair.name));
  const text = kept
    .map((pair) => pair.text)
    .join(';')
    .trim();
  return text === '' ? undefined : text;
}

/** Whether a cookie name is the platform's, in any case: no framework's lax reading may let one through. */
export function isPlatformCookie(name: string): boolean {
  return name.trim().toLowerCase().startsWith(prefix);
}

/** A Set-Cookie value. Lax: the IAM's redirect back is a top-level GET and must carry it. */
export function setCookie(
  name: string,
  value: string,
  { path = '/', maxAgeSeconds }: { path?: string | undefined; maxAgeSeconds?: number | undefined } = {},
): string {
  const maxAge = maxAgeSeconds === undefined ? '' : `; Max-Age=${maxAgeSeconds}`;
  return `${name}=${value}; Path=${path}${maxAge}; HttpOnly; SameSite=Lax`;
}
