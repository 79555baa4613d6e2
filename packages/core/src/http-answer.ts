import { type RuntimeError, SignInRequiredError } from './errors.js';
import { LOGIN_PATH } from './wire.js';

/** An HTTP answer that an adapter sends as it is. */
export interface HttpAnswer {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON text; absent for a redirect. */
  readonly body?: string | undefined;
}

/**
 * Headers, in lower case, that describe a body or are about the resource (RFC 9110 sections 8 and 14.4, RFC 6266), or how a body is sent
 * (RFC 9112 section 6.1, RFC 9110 section 6.6.2). Whatever a handler set of them before it failed was about another body: a length,
 * a compression or a file name of that one would spoil the refusal; chunks or a trailer beside our length would be no HTTP, and Node throws.
 */
export const bodyHeaders: readonly string[] = Object.freeze([
  'content-disposition',
  'content-encoding',
  'content-language',
  'content-length',
  'content-location',
  'content-range',
  'etag',
  'last-modified',
  'trailer',
  'transfer-encoding',
]);

/**
 * The HTTP answer an error of this runtime stands for: its status, its headers and `{ code, message }`; where somebody has to sign in,
 * also `login_path`, so that a script knows where.
 */
export function httpAnswerOf(error: RuntimeError): HttpAnswer {
  const content =
    error instanceof SignInRequiredError ? { ...error.toJSON(), login_path: LOGIN_PATH } : error;
  return {
    statusCode: error.statusCode,
    headers: { ...error.headers, 'content-type': 'application/json; charset=utf-8' },
    body: JSON.stringify(content),
  };
}
