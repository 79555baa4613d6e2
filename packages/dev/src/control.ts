import type { IncomingMessage, ServerResponse } from 'node:http';
import { z } from 'zod';
import { ownHost } from './address.js';
import { answerJson, readBody, refuse } from './answer.js';
import { controlPage, controlScript } from './control-page.js';
import type { PlatformFaults } from './faults.js';
import type { PlatformState } from './state.js';

/** Serves the paths under `/dev` on the broker's port (design P7); false for any other path. */
export type Control = (request: IncomingMessage, response: ServerResponse) => Promise<boolean>;

const maxBytes = 64 * 1024;
const keysSchema = z.discriminatedUnion('action', [
  z.strictObject({ action: z.literal('rotate') }),
  z.strictObject({ action: z.literal('withdraw'), kid: z.string().optional() }),
]);
const sessionsSchema = z.strictObject({ end: z.string().min(1) });

/** What a developer, or a script in any language, does to the platform from outside: the same as `platform.faults`. */
export function createControl(state: PlatformState, faults: PlatformFaults, port: () => number): Control {
  const view = () => ({
    faults: state.faults,
    keys: state.keys.jwks().keys.map(({ kid }) => kid),
    people: state.people,
    apps: state.appIds,
  });

  const actions: Readonly<Record<string, (body: unknown) => Promise<unknown> | unknown>> = {
    '/dev/faults': (body) => {
      faults.set(body as Parameters<PlatformFaults['set']>[0]);
      return view();
    },
    '/dev/keys': async (body) => {
      const wanted = keysSchema.parse(body);
      const kid = await (wanted.action === 'rotate' ? faults.rotateKey() : faults.withdrawKey(wanted.kid));
      return { kid };
    },
    '/dev/sessions': (body) => ({ ended: faults.endSession(sessionsSchema.parse(body).end) }),
  };

  const pages: Readonly<Record<string, (response: ServerResponse) => void>> = {
    '/dev': (response) => sendPage(response, 'text/html; charset=utf-8', controlPage(view())),
    '/dev/control.js': (response) => sendPage(response, 'text/javascript; charset=utf-8', controlScript),
    '/dev/state': (response) => answerJson(response, 200, view()),
  };

  return async (request, response) => {
    const path = (request.url ?? '/').split('?', 1)[0] ?? '/';
    const page = Object.hasOwn(pages, path) ? pages[path] : undefined;
    const action = Object.hasOwn(actions, path) ? actions[path] : undefined;
    if (page === undefined && action === undefined) return false;
    if (isForeign(request, port())) {
      // Another site's page in the developer's browser must neither read nor change anything here.
      refuse(
        response,
        403,
        'FORBIDDEN',
        'the control page answers to this machine and to its own pages only',
      );
    } else if (page !== undefined) {
      if (request.method === 'GET' || request.method === 'HEAD') page(response);
      else refuse(response, 405, 'METHOD_NOT_ALLOWED', 'only GET is answered here', { allow: 'GET, HEAD' });
    } else if (action !== undefined) {
      if (request.method === 'POST') await act(request, response, action);
      else refuse(response, 405, 'METHOD_NOT_ALLOWED', 'only POST is answered here', { allow: 'POST' });
    }
    return true;
  };
}

function isForeign(request: IncomingMessage, port: number): boolean {
  const host = ownHost(request.headers.host, port);
  const { origin } = request.headers;
  const site = request.headers['sec-fetch-site'];
  return (
    host === undefined ||
    (origin !== undefined && origin !== `http://${host}`) ||
    // A link from another site may show the page; nothing else of it may be used from there.
    (site !== undefined &&
      site !== 'same-origin' &&
      site !== 'none' &&
      request.headers['sec-fetch-mode'] !== 'navigate')
  );
}

async function act(
  request: IncomingMessage,
  response: ServerResponse,
  action: (body: unknown) => Promise<unknown> | unknown,
): Promise<void> {
  // A form of another site can send text, never this type without a preflight that is refused.
  if (!/^application\/json\s*(;|$)/i.test(request.headers['content-type'] ?? '')) {
    refuse(response, 415, 'VALIDATION_FAILED', 'the body must be application/json');
    return;
  }
  const body = await readBody(request, maxBytes);
  try {
    if (body === undefined) throw new TypeError('the body is too long');
    answerJson(response, 200, (await action(JSON.parse(body.toString('utf8')))) as object);
  } catch (error) {
    refuse(response, 400, 'VALIDATION_FAILED', whatIsWrong(error));
  }
}

function whatIsWrong(error: unknown): string {
  if (error instanceof z.ZodError) return z.prettifyError(error);
  if (error instanceof SyntaxError) return 'the body must be JSON';
  return error instanceof Error ? error.message : 'the request is not valid';
}

function sendPage(response: ServerResponse, contentType: string, text: string): void {
  response.writeHead(200, {
    'content-type': contentType,
    'content-length': Buffer.byteLength(text),
    'cache-control': 'no-store',
    'content-security-policy':
      "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    'x-content-type-options': 'nosniff',
  });
  response.end(text);
}
