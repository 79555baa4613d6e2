import { SignInRequiredError } from './errors.js';
import { type HttpAnswer, httpAnswerOf } from './http-answer.js';
import { type Identity, isPerson } from './identity.js';
import { LOGIN_PATH, MAX_RETURN_TO_CHARACTERS } from './wire.js';

/** The parts of a request a guard looks at. */
export interface GuardedRequest {
  readonly method: string;
  /** Path and query, as the client sent them. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/**
 * What to answer instead of a page or resource that needs a person: a redirect to sign-in for an anonymous page navigation,
 * 401 `{ code, message, login_path }` for anything else, nothing for a person (design I14).
 */
export function guardPerson(identity: Identity, request: GuardedRequest): HttpAnswer | undefined {
  if (isPerson(identity)) return undefined;
  if (isNavigation(request)) {
    const location = `${LOGIN_PATH}?return_to=${encodeURIComponent(returnTo(request.target))}`;
    return { statusCode: 302, headers: { location, 'cache-control': 'no-store' } };
  }
  return httpAnswerOf(new SignInRequiredError());
}

// A script that is sent to a sign-in page sees a CORS error or HTML where it wanted JSON, so only a navigation is redirected.
function isNavigation({ method, headers }: GuardedRequest): boolean {
  if (method !== 'GET' && method !== 'HEAD') return false;
  const mode = headers['sec-fetch-mode'];
  return mode === undefined ? prefersHtml(String(headers.accept ?? '')) : mode === 'navigate';
}

function prefersHtml(accept: string): boolean {
  let best = { type: '', quality: 0 };
  for (const range of accept.split(',')) {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    const weight = parameters.find((parameter) => parameter.startsWith('q='));
    const quality = weight === undefined ? 1 : Number(weight.slice(2));
    if (quality > best.quality) best = { type, quality };
  }
  return best.type === 'text/html' || best.type === 'application/xhtml+xml';
}

/** The target as a path of the address itself, or `/`: nobody is sent elsewhere after sign-in. */
function returnTo(target: string): string {
  if (!target.startsWith('/') || target.length > MAX_RETURN_TO_CHARACTERS) return '/';
  // Browsers drop tabs and line ends, take `\` for `/`, and a later hop may decode once more: what is left must still be
  // a path that does not start a host name.
  const [path = ''] = target.split('?', 1);
  const decoded = path.replace(/%([0-9a-f]{2})/gi, (_escape, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for.
  if (/[\x00-\x1f\x7f]/.test(decoded) || /^[/\\]{2}/.test(decoded) || path.includes('\\')) return '/';
  const resolved = URL.canParse(target, 'http://address.invalid')
    ? new URL(target, 'http://address.invalid')
    : undefined;
  return resolved?.host === 'address.invalid' && !resolved.pathname.startsWith('//') ? target : '/';
}
