import { randomUUID } from 'node:crypto';
import type { DevPerson } from './people.js';
import type { Session } from './sessions.js';
import type { PlatformState } from './state.js';

/** "The identity is valid for 5 minutes" (runtime protocol). */
const lifetimeSeconds = 300;

/** What an account has, under the names of the claims and of `/.nnumbers/auth/session`; nothing for what it lacks. */
export function profile(person: DevPerson): Record<string, string | boolean> {
  const { name, email, email_verified, preferred_username } = person;
  return {
    ...(name === undefined ? {} : { name }),
    ...(email === undefined ? {} : { email }),
    ...(email_verified === undefined ? {} : { email_verified }),
    ...(preferred_username === undefined ? {} : { preferred_username }),
  };
}

/** The identity the edge puts on a request of this session: a compact JWS with a `jti` of its own. */
export function signIdentity(state: PlatformState, iamUrl: string, session: Session): Promise<string> {
  const issuedAt = Math.floor(state.nowMs() / 1000);
  return state.keys.sign({
    iss: state.issuer,
    aud: session.appId,
    jti: randomUUID(),
    sub: session.person.sub,
    org: state.organization.id,
    org_slug: state.organization.slug,
    iam: iamUrl,
    sid: session.sid,
    ...profile(session.person),
    iat: issuedAt,
    nbf: issuedAt,
    exp: issuedAt + lifetimeSeconds,
  });
}
