import * as oidc from 'openid-client';
import { attemptMaxAgeSeconds, createAttempts } from './attempts.js';
import { attemptCookie, readCookie, setCookie } from './cookies.js';
import type { DevPerson } from './people.js';
import { readPeople } from './people.js';

const callbackPath = '/.nnumbers/auth/callback';

/** The edge's side of signing in: an OpenID Connect code flow with PKCE, as a public client (no secret exists). */
export interface SignIn {
  /** Starts an attempt: where to send the browser, and the cookie that ties the attempt to it. */
  start(attempt: {
    host: string;
    returnTo: string;
    loginHint: string | undefined;
  }): Promise<{ location: string; cookie: string }>;
  /** Finishes the attempt of a callback; undefined when it is not one of this browser, is used up, or failed. */
  finish(callback: {
    host: string;
    query: string;
    cookies: string | undefined;
  }): Promise<{ person: DevPerson; returnTo: string; clearedCookie: string } | undefined>;
}

/** The callback addresses of an edge, one for each name it answers to. */
export const redirectUris = (port: number): string[] =>
  ['127.0.0.1', 'localhost'].map((name) => new URL(callbackPath, `http://${name}:${port}`).href);

export async function createSignIn({
  appId,
  port,
  iamUrl,
  now,
}: {
  appId: string;
  port: number;
  iamUrl: string;
  now: () => number;
}): Promise<SignIn> {
  const attempts = createAttempts(now);
  // Plain HTTP, because everything here is on the loopback address.
  const configuration = await oidc.discovery(new URL(iamUrl), appId, undefined, oidc.None(), {
    execute: [oidc.allowInsecureRequests, oidc.enableNonRepudiationChecks],
  });

  return {
    async start({ host, returnTo, loginHint }) {
      const attempt = attempts.start({
        state: oidc.randomState(),
        nonce: oidc.randomNonce(),
        codeVerifier: oidc.randomPKCECodeVerifier(),
        returnTo,
      });
      const location = oidc.buildAuthorizationUrl(configuration, {
        redirect_uri: `http://${host}${callbackPath}`,
        scope: 'openid profile email',
        state: attempt.state,
        nonce: attempt.nonce,
        code_challenge: await oidc.calculatePKCECodeChallenge(attempt.codeVerifier),
        code_challenge_method: 'S256',
        ...(loginHint === undefined ? {} : { login_hint: loginHint }),
      });
      const cookie = setCookie(attemptCookie(port, attempt.state), attempt.browserSecret, {
        path: callbackPath,
        maxAgeSeconds: attemptMaxAgeSeconds,
      });
      return { location: location.href, cookie };
    },

    async finish({ host, query, cookies }) {
      const state = new URLSearchParams(query).get('state') ?? '';
      const cookieName = attemptCookie(port, state);
      const attempt = attempts.take(state, readCookie(cookies, cookieName));
      if (attempt === undefined) return undefined;
      const callback = new URL(`http://${host}${callbackPath}?${query}`);
      const tokens = await oidc
        .authorizationCodeGrant(configuration, callback, {
          pkceCodeVerifier: attempt.codeVerifier,
          expectedState: attempt.state,
          expectedNonce: attempt.nonce,
          idTokenExpected: true,
        })
        .catch(() => undefined);
      const claims = tokens?.claims();
      if (claims === undefined) return undefined;
      const { sub, name, email, email_verified, preferred_username } = claims;
      const [person] = readPeople([{ sub, name, email, email_verified, preferred_username }]);
      if (person === undefined) return undefined;
      const clearedCookie = setCookie(cookieName, '', { path: callbackPath, maxAgeSeconds: 0 });
      return { person, returnTo: attempt.returnTo, clearedCookie };
    },
  };
}
