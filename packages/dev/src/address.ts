/**
 * The host a request came to, when it is a loopback name with the server's own port (design P3); undefined for
 * any other. A page of another site that points its own name at 127.0.0.1 (DNS rebinding) gets nothing.
 */
export function ownHost(host: string | undefined, port: number): string | undefined {
  if (host === undefined) return undefined;
  const parts = /^(localhost|127\.0\.0\.1)(?::(\d{1,5}))?$/i.exec(host);
  if (parts?.[1] === undefined || Number(parts[2] ?? 80) !== port) return undefined;
  // As a browser writes it in Origin: lower case, no default port (RFC 6454 section 6.2).
  return port === 80 ? parts[1].toLowerCase() : `${parts[1].toLowerCase()}:${port}`;
}

const maxLength = 2048;

/**
 * Where sign-in goes back to: a path of the address itself (runtime protocol, "The Reserved Paths"; design P3),
 * percent-encoded. undefined when it is not one.
 *
 * Browsers take `//host`, `/\host` and `/<tab>/host` for other sites, and `/..//host` becomes `//host` once resolved:
 * each of them is an open redirect.
 */
export function readReturnTo(unverifiedValues: readonly string[]): string | undefined {
  const [value = '', ...more] = unverifiedValues;
  if (more.length > 0 || value.length > maxLength) return undefined;
  if (value === '') return '/';
  const path = value.split(/[?#]/, 1)[0] ?? '';
  if (!path.startsWith('/') || path.startsWith('//') || path.includes('\\')) return undefined;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: URL parsers drop tabs and line ends silently.
  if (/[\u0000-\u001f\u007f]/.test(value) || /\p{Surrogate}/u.test(value)) return undefined;
  const base = 'http://address.invalid';
  const url = URL.canParse(value, base) ? new URL(value, base) : undefined;
  if (url === undefined || url.origin !== base || url.pathname.startsWith('//')) return undefined;
  return `${url.pathname}${url.search}${url.hash}`;
}
