/**
 * What a browser may do with the page: run and show this address's own files, and ask this address. `'self'` of connect-src is
 * also `ws:` and `wss:` of it (CSP 3, section 6.7.2.8). With Trusted Types and no policy, a text that reaches an HTML sink is an error: a
 * value that was asked for is shown as text or not at all.
 */
export const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');
