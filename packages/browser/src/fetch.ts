import { ForbiddenError, ProtocolError, SessionEndedError, SignedOutError } from './errors.js';
import { isRedirect, reach } from './request.js';
import { getSession } from './session.js';
import { SIGN_IN_REQUIRED_CODE } from './wire.js';

/** Whether nobody is signed in any more. Also keeps the listeners of `onSessionChange` up to date. */
const isOver = async (signal: AbortSignal): Promise<boolean> => {
  try {
    return (await getSession({ signal })).user === null;
  } catch (error) {
    // Whatever answers in the application's place answers in the platform's too: the sign-in page of something in front.
    if (error instanceof ProtocolError || error instanceof SignedOutError) return true;
    throw error;
  }
};

/** The `code` of a JSON refusal, read from a copy. */
const readCode = async (response: Response): Promise<unknown> => {
  try {
    const body: unknown = await response.clone().json();
    return typeof body === 'object' && body !== null && 'code' in body ? body.code : undefined;
  } catch {
    return undefined;
  }
};

const isUnaskedHtml = (request: Request, response: Response): boolean =>
  response.ok &&
  /^text\/html\b/i.test(response.headers.get('content-type') ?? '') &&
  !/text\/html/i.test(request.headers.get('accept') ?? '');

const send = async (request: Request): Promise<Response> => {
  try {
    return await reach(() => fetch(request), request.signal);
  } catch (error) {
    // A redirect to another origin's sign-in page, followed, fails as CORS: to fetch it looks like a dead network.
    if (request.redirect !== 'manual' && (await isOver(request.signal))) {
      throw new SessionEndedError();
    }
    throw error;
  }
};

/**
 * `fetch` for the application's own data. Any answer of the application comes back as it is, 404 and 500 too; what is not its
 * answer, or says that nobody or the wrong person is signed in, is a typed error. Before an error says that the session is over,
 * the platform was asked.
 *
 * A redirect is not followed until the platform said that the session goes on; then GET and HEAD are repeated and followed, and
 * for other methods the redirect itself is returned (`type: 'opaqueredirect'`), since they are not safe to repeat. `redirect` in
 * `init` overrules this. HTML is taken for a sign-in page only when the session is over and the request's Accept does not name it.
 *
 * @param input a path, URL or Request of this origin.
 * @param init as for `fetch`.
 * @throws SignedOutError on a 401 when nobody is signed in, or its code says that a person is needed; SessionEndedError on a
 * redirect or HTML when nobody is signed in; ForbiddenError on 403; NetworkError when no answer came; TypeError for another
 * origin or for arguments that `fetch` does not take; the signal's reason when aborted.
 */
export const fetchWithSession = async (input: RequestInfo | URL, init?: RequestInit): Promise<Response> => {
  const base = globalThis.document?.baseURI ?? location.href;
  const asked = new Request(input instanceof Request ? input : new URL(input, base), init);
  // The cookie belongs to this origin, and so does everything concluded from the answer.
  if (new URL(asked.url).origin !== location.origin) throw new TypeError('The request leaves this origin');
  const isOurs = asked.redirect === 'follow' && init?.redirect === undefined;
  const request = isOurs ? new Request(asked, { redirect: 'manual' }) : asked;
  const { signal } = request;

  const response = await send(request);
  if (response.status === 403) throw new ForbiddenError(response);
  if (response.status === 401) {
    const code = await readCode(response);
    const isPersonNeeded = code === SIGN_IN_REQUIRED_CODE;
    // A code that says something else is the application's own matter.
    if (!isPersonNeeded && code !== undefined) return response;
    const over = await isOver(signal).catch((error: unknown) => {
      if (isPersonNeeded) return true;
      throw error;
    });
    if (isPersonNeeded || over) throw new SignedOutError(response);
  } else if (isUnaskedHtml(request, response) || (isOurs && isRedirect(response))) {
    if (await isOver(signal)) throw new SessionEndedError(response);
    if (isRedirect(response) && /^(GET|HEAD)$/.test(request.method)) {
      return reach(() => fetch(new Request(request, { redirect: 'follow' })), signal);
    }
  }
  return response;
};
