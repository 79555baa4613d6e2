import { z } from 'zod';
import { IdentityRejectedError, type RefusalReason } from './errors.js';
import { parseJsonObject } from './header.js';
import { MAX_LIFETIME_SECONDS } from './wire.js';

/** Whom an identity must come from and be for. */
export interface ClaimExpectations {
  /** NNUMBERS_IDENTITY_ISSUER */
  readonly issuer: string;
  /** NNUMBERS_APP_ID */
  readonly applicationId: string;
  /** NNUMBERS_ORG_ID */
  readonly organizationId: string;
  /** Seconds, 0 to 60. */
  readonly clockToleranceSeconds: number;
}

/** The claims of the runtime protocol's table, checked, besides the payload they came from. */
export interface VerifiedClaims {
  readonly sub: string;
  readonly jti: string;
  readonly org: string;
  readonly org_slug: string;
  readonly iam: string;
  readonly sid: string;
  readonly name?: string | null | undefined;
  readonly email?: string | null | undefined;
  readonly email_verified?: boolean | null | undefined;
  readonly preferred_username?: string | null | undefined;
  /** Seconds since the epoch. */
  readonly iat: number;
  readonly nbf: number;
  readonly exp: number;
}

/** Reads verified payload bytes as claims of this application, valid now. */
export type ClaimReader = (
  verifiedPayload: Uint8Array,
  nowMs: number,
) => { claims: VerifiedClaims; payload: Readonly<Record<string, unknown>> };

// Past this, `new Date(seconds * 1000)` is Invalid Date (ECMA-262, "Time Values and Time Range").
const MAX_DATE_SECONDS = 8_640_000_000_000;

const text = z.string().min(1);
// zod 4's number() takes no NaN and no Infinity: `1e999` in JSON would be a token that never expires.
const numericDate = z.number().nonnegative().max(MAX_DATE_SECONDS);

const REASON_OF_CLAIM: Readonly<Record<string, RefusalReason>> = {
  iss: 'issuer',
  aud: 'audience',
  org: 'organization',
};

/** Makes the reader for one application: the schema is built once. */
export function createClaimReader(expected: ClaimExpectations): ClaimReader {
  const audience = z.literal(expected.applicationId);
  const schema = z.object({
    iss: z.literal(expected.issuer),
    // An array of exactly this one application; a token that is also another application's is not taken.
    aud: z.union([audience, z.tuple([audience])]),
    org: z.literal(expected.organizationId),
    sub: text,
    jti: text,
    sid: text,
    iam: text,
    org_slug: text,
    iat: numericDate,
    nbf: numericDate,
    exp: numericDate,
    name: z.string().nullish(),
    email: z.string().nullish(),
    preferred_username: z.string().nullish(),
    email_verified: z.boolean().nullish(),
  });

  return (verifiedPayload, nowMs) => {
    const payload = parseJsonObject(verifiedPayload);
    if (payload === undefined) throw new IdentityRejectedError('claims');
    const parsed = schema.safeParse(payload);
    if (!parsed.success) {
      throw new IdentityRejectedError(REASON_OF_CLAIM[String(parsed.error.issues[0]?.path[0])] ?? 'claims');
    }
    const claims = parsed.data;
    if (claims.iat >= claims.exp) throw new IdentityRejectedError('claims');
    if (claims.exp - claims.iat > MAX_LIFETIME_SECONDS) throw new IdentityRejectedError('lifetime');
    const fault = validityFault(claims, expected.clockToleranceSeconds, nowMs);
    if (fault !== undefined) throw new IdentityRejectedError(fault);
    return { claims, payload };
  };
}

/** Why an identity is not valid at this moment, or undefined when it is (design I5: exactly `exp + tolerance` is too late). */
export function validityFault(
  claims: { readonly nbf: number; readonly exp: number },
  clockToleranceSeconds: number,
  nowMs: number,
): 'expired' | 'not-yet-valid' | undefined {
  const now = nowMs / 1000;
  if (!(now < claims.exp + clockToleranceSeconds)) return 'expired';
  if (!(now >= claims.nbf - clockToleranceSeconds)) return 'not-yet-valid';
  return undefined;
}
