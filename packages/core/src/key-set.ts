import { createPublicKey } from 'node:crypto';
import { z } from 'zod';
import { parseJsonObject } from './header.js';
import { MAX_KEY_ID_CHARACTERS } from './wire.js';

/** A public P-256 key that may check identities (RFC 7517, RFC 7518 section 6.2), reduced to what is used of it. */
export interface VerificationJwk {
  readonly kty: 'EC';
  readonly crv: 'P-256';
  readonly x: string;
  readonly y: string;
  readonly kid: string;
}

/** Something in a key set that was left out, or counts for less than it seems. */
export type KeySetProblem =
  /** Not a P-256 signing key with a key ID: another kind, another use, or malformed. */
  | 'unusable-key'
  /** A P-256 key whose point is not on the curve. */
  | 'off-curve-point'
  /** The key carries its private part. */
  | 'private-key'
  /** Two different keys with one key ID: neither is used. */
  | 'conflicting-key-id'
  /** The broker's key has the key ID of an environment key: the environment's counts. */
  | 'shadowed-key-id';

/** The usable keys of a JWK set by key ID, and what was wrong with the others. */
export interface KeySet {
  readonly keys: ReadonlyMap<string, VerificationJwk>;
  readonly problems: readonly KeySetProblem[];
}

// 32 bytes as unpadded base64url.
const coordinate = z.string().regex(/^[A-Za-z0-9_-]{43}$/);

const verificationJwk = z.object({
  kty: z.literal('EC'),
  crv: z.literal('P-256'),
  x: coordinate,
  y: coordinate,
  kid: z.string().regex(new RegExp(`^[\\x20-\\x7e]{1,${MAX_KEY_ID_CHARACTERS}}$`)),
  use: z.literal('sig').optional(),
  alg: z.literal('ES256').optional(),
  key_ops: z
    .array(z.unknown())
    .refine((operations) => operations.includes('verify'))
    .optional(),
});

const jwkSet = z.object({ keys: z.array(z.unknown()) });

/**
 * Reads a JWK set and keeps what can check an identity. Keys of other kinds are left out, not an error of the whole set
 * (RFC 7517 section 5). Undefined when it is no JWK set at all.
 */
export function readKeySet(body: Uint8Array): KeySet | undefined {
  const set = jwkSet.safeParse(parseJsonObject(body));
  if (!set.success) return undefined;
  const keys = new Map<string, VerificationJwk>();
  const conflicting = new Set<string>();
  const problems: KeySetProblem[] = [];
  for (const candidate of set.data.keys) {
    if (typeof candidate === 'object' && candidate !== null && Object.hasOwn(candidate, 'd')) {
      problems.push('private-key');
      continue;
    }
    const parsed = verificationJwk.safeParse(candidate);
    if (!parsed.success || !isOnCurve(parsed.data)) {
      problems.push(parsed.success ? 'off-curve-point' : 'unusable-key');
      continue;
    }
    const { kty, crv, x, y, kid } = parsed.data;
    const same = keys.get(kid);
    // Identical copies are one key; two different keys under one ID leave no way to tell which signed (design I6).
    if (same !== undefined && (same.x !== x || same.y !== y)) conflicting.add(kid);
    keys.set(kid, { kty, crv, x, y, kid });
  }
  for (const kid of conflicting) {
    keys.delete(kid);
    problems.push('conflicting-key-id');
  }
  return { keys, problems };
}

function isOnCurve(jwk: { kty: 'EC'; crv: 'P-256'; x: string; y: string }): boolean {
  try {
    createPublicKey({ key: { kty: jwk.kty, crv: jwk.crv, x: jwk.x, y: jwk.y }, format: 'jwk' });
    return true;
  } catch {
    return false;
  }
}
