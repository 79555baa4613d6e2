import { randomBytes } from 'node:crypto';
import type { JWK, KoaContextWithOIDC, Provider } from 'oidc-provider';
import { iamCookie } from './cookies.js';
import { profile } from './identity.js';
import { faultPage } from './page.js';
import { type DevPerson, findPerson } from './people.js';
import { createStore } from './store.js';

/** What the IAM serves. */
export interface IamOptions {
  /** Its address and issuer. */
  readonly url: string;
  readonly people: readonly DevPerson[];
  /** The edges: public clients, one for each application. */
  readonly clients: readonly { id: string; redirectUris: readonly string[] }[];
  readonly signingKey: JWK;
}

const hour = 3600;

export async function createProvider(options: IamOptions): Promise<Provider> {
  const { people } = options;
  const port = Number(new URL(options.url).port || 80);
  const { Provider: OidcProvider, interactionPolicy } = await importQuietly();

  const policy = interactionPolicy.base();
  // The platform's own applications: nobody is asked whether they may know who signed in.
  policy.remove('consent');
  policy
    .get('login')
    ?.checks.add(
      new interactionPolicy.Check('login_hint', 'another person is asked for', (context) =>
        replacesPerson(context, people),
      ),
      0,
    );

  const provider = new OidcProvider(options.url, {
    adapter: createStore(),
    clients: options.clients.map(({ id, redirectUris }) => ({
      client_id: id,
      // 'native' would ask for consent again and again.
      application_type: 'web',
      token_endpoint_auth_method: 'none',
      grant_types: ['authorization_code'],
      response_types: ['code'],
      redirect_uris: [...redirectUris],
      id_token_signed_response_alg: 'ES256',
    })),
    jwks: { keys: [{ ...options.signingKey, alg: 'ES256', use: 'sig' }] },
    cookies: {
      keys: [randomBytes(32).toString('base64url')],
      names: {
        session: iamCookie(port, 'session'),
        interaction: iamCookie(port, 'interaction'),
        resume: iamCookie(port, 'resume'),
      },
    },
    claims: {
      openid: ['sub'],
      profile: ['name', 'preferred_username'],
      email: ['email', 'email_verified'],
    },
    // The ID token carries the claims: the edge needs nothing else, and no access token is used at all.
    conformIdTokenClaims: false,
    findAccount: (_context, sub) => {
      const person = people.find((candidate) => candidate.sub === sub);
      return person && { accountId: sub, claims: () => ({ sub, ...profile(person) }) };
    },
    loadExistingGrant,
    interactions: { policy, url: (_context, { uid }) => `/interaction/${uid}` },
    clientBasedCORS: () => false,
    renderError: (context, { error, error_description }) => {
      context.type = 'html';
      context.body = faultPage(`${error}: ${error_description ?? 'the request was refused'}`);
    },
    features: {
      devInteractions: { enabled: false },
      dPoP: { enabled: false },
      pushedAuthorizationRequests: { enabled: false },
      resourceIndicators: { enabled: false },
      rpInitiatedLogout: { enabled: false },
      userinfo: { enabled: false },
    },
    responseTypes: ['code'],
    scopes: ['openid', 'profile', 'email'],
    ttl: {
      AccessToken: 60,
      AuthorizationCode: 60,
      Grant: 12 * hour,
      IdToken: 300,
      Interaction: hour,
      Session: 12 * hour,
    },
  });
  return provider;
}

/** Grants what the client asks for, once for each signed-in person. */
async function loadExistingGrant(context: KoaContextWithOIDC) {
  const { client, session, params, provider } = context.oidc;
  if (client === undefined || session?.accountId === undefined) return undefined;
  const existing = session.grantIdFor(client.clientId);
  const found = existing === undefined ? undefined : await provider.Grant.find(existing);
  if (found !== undefined) return found;
  const grant = new provider.Grant({ clientId: client.clientId, accountId: session.accountId });
  grant.addOIDCScope(String(params?.scope ?? 'openid'));
  await grant.save();
  return grant;
}

/**
 * Whether the `login_hint` is not the person who is signed in. That person then leaves the single sign-on session, so
 * that the next one can enter it: otherwise the provider would go on with whoever was there before.
 */
function replacesPerson(context: KoaContextWithOIDC, people: readonly DevPerson[]): boolean {
  const { params, session } = context.oidc;
  const hint = params?.login_hint;
  if (typeof hint !== 'string' || session?.accountId === undefined) return false;
  if (findPerson(people, hint)?.sub === session.accountId) return false;
  delete session.accountId;
  delete session.authorizations;
  return true;
}

/** Imports oidc-provider without its notice about Node 20, on which it works; every other warning passes. */
async function importQuietly(): Promise<typeof import('oidc-provider')> {
  const warn = console.warn;
  console.warn = (...values: unknown[]) => {
    if (!String(values[0]).includes('oidc-provider WARNING: Unsupported runtime')) warn(...values);
  };
  try {
    return await import('oidc-provider');
  } finally {
    console.warn = warn;
  }
}
