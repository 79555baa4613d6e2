import { type RuntimeError, SignInRequiredError } from './errors.js';
import { LOGIN_PATH } from './wire.js';

/** An HTTP answer that an adapter sends as it is. */
export interface HttpAnswer {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON text; absent for a redirect. */
  readonly body?: string;
}

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
