import { generateKeyPairSync } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Provider } from 'oidc-provider';
import { ownHost } from './address.js';
import { readBody } from './answer.js';
import { faultPage, signInPage } from './page.js';
import { findPerson } from './people.js';
import { createProvider, type IamOptions } from './provider.js';

/** The organization's IAM: an OpenID Connect provider with a page of people instead of passwords. */
export interface Iam {
  readonly server: Server;
  /** Starts to serve; before, every request is answered 503. */
  open(options: Omit<IamOptions, 'signingKey'>): Promise<void>;
}

export function createIam(): Iam {
  let handle = (_request: IncomingMessage, response: ServerResponse): Promise<void> | void =>
    sendPage(response, 503, faultPage('The platform is still starting.'));
  const server = createServer((request, response) => {
    Promise.resolve(handle(request, response)).catch(() => {
      if (response.headersSent) response.destroy();
      else sendPage(response, 400, faultPage('This sign-in is not under way in this browser: start again.'));
    });
  });

  return {
    server,
    async open(options) {
      const signingKey = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({
        format: 'jwk',
      });
      const provider = await createProvider({ ...options, signingKey });
      const serveProvider = provider.callback();
      const port = Number(new URL(options.url).port || 80);
      handle = (request, response) => {
        if (ownHost(request.headers.host, port) === undefined)
          return sendPage(response, 400, faultPage('The Host of the request is not this address.'));
        const path = (request.url ?? '/').split('?', 1)[0] ?? '/';
        if (path.startsWith('/interaction/')) return interact(provider, options, path, request, response);
        return serveProvider(request, response);
      };
    },
  };
}

/** Who is it? A known `login_hint` answers by itself, the page of people otherwise. */
async function interact(
  provider: Provider,
  options: Omit<IamOptions, 'signingKey'>,
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { people } = options;
  const { params } = await provider.interactionDetails(request, response);
  const hint = typeof params.login_hint === 'string' ? params.login_hint : undefined;
  const finish = (accountId: string) =>
    provider.interactionFinished(
      request,
      response,
      { login: { accountId } },
      { mergeWithLastSubmission: false },
    );

  if (request.method === 'POST') {
    const body = await readBody(request, 8192);
    const sub = new URLSearchParams(body?.toString('utf8')).get('sub');
    const chosen = people.find((person) => person.sub === sub);
    return chosen === undefined
      ? sendPage(response, 400, faultPage('There is no such person.'))
      : finish(chosen.sub);
  }
  const hinted = hint === undefined ? undefined : findPerson(people, hint);
  if (hinted !== undefined) return finish(hinted.sub);
  sendPage(response, 200, signInPage(people, String(params.client_id), path, hint));
}

function sendPage(response: ServerResponse, statusCode: number, html: string): void {
  response.writeHead(statusCode, {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    // No form-action: browsers apply it to the redirects that follow the form, which lead to the edges.
    'content-security-policy':
      "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'",
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
  });
  response.end(html);
}
