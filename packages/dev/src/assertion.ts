import type { IncomingMessage } from 'node:http';
import { compactVerify, decodeProtectedHeader } from 'jose';
import { z } from 'zod';
import { type Refusal, refusal } from './refusal.js';
import type { Session } from './sessions.js';
import type { PlatformState } from './state.js';

/** "with up to 60 s of clock tolerance" (runtime protocol). */
const toleranceSeconds = 60;
const shape = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]{86}$/;

const headerSchema = z.object({
  alg: z.literal('ES256'),
  typ: z.literal('nn-identity+jwt'),
  kid: z.string().min(1),
  crit: z.undefined().optional(),
});

const claimsSchema = z.object({
  iss: z.string(),
  aud: z.string(),
  org: z.string(),
  sub: z.string().min(1),
  sid: z.string().min(1),
  nbf: z.number(),
  exp: z.number(),
});

/**
 * The live session behind a request's identity, or why there is none (design P4). This check is written apart from
 * the runtime's on purpose: a stand-in that shared the runtime's code would agree with its mistakes.
 */
export async function checkIdentity(
  state: PlatformState,
  request: IncomingMessage,
): Promise<{ session: Session } | { refusal: Refusal }> {
  const lines = request.headersDistinct['x-nnumbers-identity'];
  if (lines === undefined) return { refusal: refusal('USER_SESSION_REQUIRED') };
  if (!state.faults.brokerKeys) return { refusal: refusal('APPLICATION_IDENTITY_NOT_READY') };
  const [token, ...more] = lines;
  const claims = more.length > 0 ? undefined : await readClaims(state, token ?? '').catch(() => undefined);
  if (claims === undefined) return { refusal: refusal('IDENTITY_ASSERTION_INVALID') };
  const session = state.sessions.bySid(claims.sid);
  return session === undefined ? { refusal: refusal('USER_SESSION_REQUIRED') } : { session };
}

async function readClaims(
  state: PlatformState,
  token: string,
): Promise<z.infer<typeof claimsSchema> | undefined> {
  if (!shape.test(token)) return undefined;
  const header = headerSchema.parse(decodeProtectedHeader(token));
  const key = state.keys.publicKey(header.kid);
  if (key === undefined) return undefined;
  const { payload } = await compactVerify(token, key, { algorithms: ['ES256'] });
  const text = new TextDecoder('utf-8', { fatal: true }).decode(payload);
  const claims = claimsSchema.parse(JSON.parse(text));
  const nowSeconds = state.nowMs() / 1000;
  const valid =
    claims.iss === state.issuer &&
    claims.org === state.organization.id &&
    state.appIds.includes(claims.aud) &&
    claims.nbf - toleranceSeconds <= nowSeconds &&
    nowSeconds < claims.exp + toleranceSeconds;
  return valid ? claims : undefined;
}
