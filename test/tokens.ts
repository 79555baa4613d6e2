import { generateKeyPairSync, type KeyObject, randomUUID, sign } from 'node:crypto';

/** Tokens made by hand from the contract's words: `node:crypto` and JSON, nothing of the packages and no JOSE library. */

const ISSUER = 'https://identity.nnumbers.example';
export const APP_ID = 'app-7f3a';
export const ORG_ID = 'org-51c2';
/** Milliseconds since the epoch: 2026-11-30T12:00:00Z. */
export const NOW_MS = 1_796_040_000_000;

export interface SigningKey {
  readonly kid: string;
  readonly privateKey: KeyObject;
  /** The public JWK, with kid. */
  readonly jwk: Record<string, unknown>;
}

export function makeKey(kid: string): SigningKey {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return { kid, privateKey, jwk: { ...publicKey.export({ format: 'jwk' }), kid } };
}

export const base64url = (value: string | Uint8Array): string => Buffer.from(value).toString('base64url');

/** Signs whatever two texts it is given, as ES256: r and s, 32 bytes each. */
export function signParts(
  key: SigningKey,
  header: string | Uint8Array,
  payload: string | Uint8Array,
): string {
  const input = `${base64url(header)}.${base64url(payload)}`;
  const signature = sign('sha256', Buffer.from(input), { key: key.privateKey, dsaEncoding: 'ieee-p1363' });
  return `${input}.${signature.toString('base64url')}`;
}

export function headerOf(key: SigningKey, changes: Record<string, unknown> = {}): Record<string, unknown> {
  return { alg: 'ES256', typ: 'nn-identity+jwt', kid: key.kid, ...changes };
}

/** The claims of the contract's table, for Ana, valid from now for five minutes. A change to undefined leaves a claim out. */
export function claims(changes: Record<string, unknown> = {}, nowMs = NOW_MS): Record<string, unknown> {
  const now = Math.floor(nowMs / 1000);
  return {
    iss: ISSUER,
    aud: APP_ID,
    jti: randomUUID(),
    sub: 'ana-0001',
    org: ORG_ID,
    org_slug: 'acme',
    iam: 'https://iam.acme.example',
    sid: 'session-0001',
    name: 'Ana Souza',
    email: 'ana@example.org',
    email_verified: true,
    preferred_username: 'ana',
    iat: now,
    nbf: now,
    exp: now + 300,
    ...changes,
  };
}

export function token(
  key: SigningKey,
  claimChanges: Record<string, unknown> = {},
  headerChanges: Record<string, unknown> = {},
): string {
  return signParts(key, JSON.stringify(headerOf(key, headerChanges)), JSON.stringify(claims(claimChanges)));
}

/** The five variables the platform sets. */
export function environment(
  environmentKeys: readonly Pick<SigningKey, 'jwk'>[],
  brokerUrl = 'http://127.0.0.1:9',
): Record<string, string> {
  return {
    NNUMBERS_IDENTITY_JWKS: JSON.stringify({ keys: environmentKeys.map((key) => key.jwk) }),
    NNUMBERS_BROKER_URL: brokerUrl,
    NNUMBERS_IDENTITY_ISSUER: ISSUER,
    NNUMBERS_APP_ID: APP_ID,
    NNUMBERS_ORG_ID: ORG_ID,
  };
}

const P256_ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;

/** The same token with (r, n−s) for (r, s): the other signature ECDSA lets anybody make of one. */
export function twin(compact: string): string {
  const cut = compact.lastIndexOf('.') + 1;
  const signature = Buffer.from(compact.slice(cut), 'base64url');
  const s = BigInt(`0x${signature.toString('hex', 32)}`);
  const other = Buffer.from((P256_ORDER - s).toString(16).padStart(64, '0'), 'hex');
  return compact.slice(0, cut) + base64url(Buffer.concat([signature.subarray(0, 32), other]));
}
