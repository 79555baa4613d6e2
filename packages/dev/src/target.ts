/** The request target on the request line, taken apart (RFC 9112 section 3.2). */
export interface Target {
  /** Path and query exactly as sent: this is what the application receives. */
  readonly raw: string;
  /** The authority of an absolute-form target; it counts instead of Host (RFC 9112 section 3.2.2). */
  readonly authority: string | undefined;
  /** The query without its `?`. */
  readonly query: string;
  /** The resolved path when it lies under `/.nnumbers/` (design P2); otherwise the request is the application's. */
  readonly reservedPath: string | undefined;
}

const reservedPrefix = '/.nnumbers/';

export function readTarget(url: string): Target {
  // Of any scheme: an application that parses its target would find a reserved path behind `https://` too.
  const absolute = /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)(.*)$/i.exec(url);
  const authority = absolute?.[1];
  const raw = absolute === null ? url : `${absolute[2]?.startsWith('/') ? '' : '/'}${absolute[2] ?? ''}`;
  const end = raw.search(/[?#]/);
  const path = resolvePath(end < 0 ? raw : raw.slice(0, end));
  return {
    raw,
    authority,
    query: raw[end] === '?' ? raw.slice(end + 1) : '',
    reservedPath: path.startsWith(reservedPrefix) ? path : undefined,
  };
}

/**
 * The path a server would come to that decodes first and then removes dot segments (RFC 3986 section 5.2.4).
 * A backslash counts as a slash, as the WHATWG URL parser has it: an application that parses its target with `URL`
 * must not be reached by a spelling of `/.nnumbers/` that this edge did not see.
 */
function resolvePath(path: string): string {
  const decoded = path
    .replace(/%[0-9a-f]{2}/gi, (triplet) => String.fromCharCode(Number.parseInt(triplet.slice(1), 16)))
    .replaceAll('\\', '/');
  const output: string[] = [];
  const segments = decoded.split('/').slice(1);
  for (const [index, segment] of segments.entries()) {
    const last = index === segments.length - 1;
    if (segment === '..') output.pop();
    else if (segment !== '.') output.push(segment);
    if (last && (segment === '.' || segment === '..')) output.push('');
  }
  return `/${output.join('/')}`;
}
