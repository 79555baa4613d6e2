import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { isPlatformCookie, withoutPlatformCookies } from './cookies.js';

const identityHeader = 'x-nnumbers-identity';

/** Of one connection only (RFC 9110 section 7.6.1), or answered by this hop (Expect: section 10.1.1). */
const hopByHop = new Set([
  'connection',
  'expect',
  'http2-settings',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/**
 * Only the edge may say these: a browser's own value would be believed by the application. Every X-Forwarded-*, since
 * applications know more of them than any list here (-User, -Prefix, -Ssl, -Uri, …).
 */
const edgeOnly = /^(x-nnumbers-identity|forwarded|x-forwarded-.*|x-real-ip)$/;

/**
 * The headers the application receives: the browser's, without what is the platform's, and with the identity of who
 * signed in. CGI-style servers read `X_NNumbers_Identity` as the same name, so the spelling with `_` goes too
 * (design P1).
 */
export function requestHeaders(
  request: IncomingMessage,
  host: string,
  identity: string | undefined,
  upgrade: boolean,
): IncomingHttpHeaders {
  const clientAddress = request.socket.remoteAddress ?? '127.0.0.1';
  // First of all: a server that stops after so many headers (Node's after 2,000) must not miss who it is.
  const headers: IncomingHttpHeaders = {
    host,
    ...(identity === undefined ? {} : { [identityHeader]: identity }),
    forwarded: `for=${clientAddress};host="${host}";proto=http`,
    'x-forwarded-for': clientAddress,
    'x-forwarded-host': host,
    'x-forwarded-port': String(request.socket.localPort ?? ''),
    'x-forwarded-proto': 'http',
  };
  // The browser's alone: `Connection: X-NNumbers-Identity` or `Connection: Host` cannot remove the platform's.
  const nominated = new Set((request.headers.connection ?? '').toLowerCase().split(/[,\s]+/));
  for (const [name, value] of Object.entries(request.headers)) {
    const canonical = name.replaceAll('_', '-');
    if (name === 'host' || name === 'cookie') continue;
    // Where the body ends is not the browser's to take away: without a length its bytes would be read as the next
    // request, reserved path, forged identity and all (request smuggling, RFC 9112 section 11.2).
    if (nominated.has(name) && name !== 'content-length') continue;
    if (hopByHop.has(name) || edgeOnly.test(canonical)) continue;
    headers[name] = value;
  }
  const cookie = withoutPlatformCookies(request.headers.cookie);
  if (cookie !== undefined) headers.cookie = cookie;

  if (upgrade) {
    // The bytes after an upgrade request are the new protocol's, never a body.
    delete headers['content-length'];
    headers.connection = 'Upgrade';
    headers.upgrade = 'websocket';
  } else if (request.headers['transfer-encoding'] !== undefined) {
    headers['transfer-encoding'] = 'chunked';
  }
  return headers;
}

/**
 * Takes away the application's Set-Cookie lines that would overwrite a cookie of the platform. A cookie without a name
 * comes back as its value alone, so that `=name=value` is one of that name.
 */
export function removePlatformSetCookies(headers: IncomingHttpHeaders): void {
  const lines = headers['set-cookie'];
  if (lines === undefined) return;
  headers['set-cookie'] = lines.filter(
    (line) => !isPlatformCookie(line.replace(/^\s*=/, '').split('=', 1)[0] ?? ''),
  );
}
