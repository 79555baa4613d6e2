import { randomBytes } from 'node:crypto';

/** One started sign-in: what the callback must match (RFC 6749 section 10.12, RFC 7636, OIDC Core section 3.1.2.1). */
export interface Attempt {
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
  readonly returnTo: string;
  /** Lives in a cookie of the browser that started: a callback URL alone signs nobody in elsewhere. */
  readonly browserSecret: string;
  readonly expiresAtMs: number;
}

/** The sign-ins under way at one edge. */
export interface Attempts {
  start(attempt: Pick<Attempt, 'state' | 'nonce' | 'codeVerifier' | 'returnTo'>): Attempt;
  /** The attempt of this state in this browser; it is gone afterwards, so a callback works once. */
  take(state: string, browserSecret: string | undefined): Attempt | undefined;
}

/** How long a person may stay on the sign-in page, in seconds. */
export const attemptMaxAgeSeconds = 600;
const maxAttempts = 1000;

export function createAttempts(nowMs: () => number): Attempts {
  const attempts = new Map<string, Attempt>();
  return {
    start(fields) {
      const attempt: Attempt = {
        ...fields,
        browserSecret: randomBytes(32).toString('base64url'),
        expiresAtMs: nowMs() + attemptMaxAgeSeconds * 1000,
      };
      attempts.set(attempt.state, attempt);
      const [oldest] = attempts.keys();
      if (attempts.size > maxAttempts && oldest !== undefined) attempts.delete(oldest);
      return attempt;
    },
    take(state, browserSecret) {
      const attempt = attempts.get(state);
      // Somebody else's browser must not be able to use up the attempt either.
      if (attempt === undefined || attempt.browserSecret !== browserSecret) return undefined;
      attempts.delete(state);
      return nowMs() < attempt.expiresAtMs ? attempt : undefined;
    },
  };
}
