import { createHmac, generateKeyPairSync, type KeyObject, randomUUID, sign, verify } from 'node:crypto';

/** A key pair on P-256, in memory only. */
export interface TestKey {
  readonly kid: string;
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
  /** The public key as it is published. */
  readonly jwk: PublicJwk;
}

/** A public P-256 key (RFC 7518 section 6.2.1). */
export interface PublicJwk {
  readonly kty: 'EC';
  readonly crv: 'P-256';
  readonly x: string;
  readonly y: string;
  readonly kid: string;
  readonly alg: 'ES256';
  readonly use: 'sig';
}

/** Makes a key. A chosen kid lets a test put another key under the ID of a published one. */
export function makeKey(kid = `test-${randomUUID()}`): TestKey {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
  const jwk: PublicJwk = { kty: 'EC', crv: 'P-256', x, y, kid, alg: 'ES256', use: 'sig' };
  return { kid, privateKey, publicKey, jwk };
}

/** A JSON value as a part of a compact JWS (RFC 7515 section 7.1). */
export const encodePart = (value: unknown): string =>
  Buffer.from(JSON.stringify(value)).toString('base64url');

/** Signs a JOSE header and a payload as ES256, whatever they hold. */
export function signCompact(key: TestKey, joseHeader: unknown, payload: unknown): string {
  const input = `${encodePart(joseHeader)}.${encodePart(payload)}`;
  const signature = sign('sha256', Buffer.from(input), { key: key.privateKey, dsaEncoding: 'ieee-p1363' });
  return `${input}.${signature.toString('base64url')}`;
}

/** Signs as HS512 with the published key for the secret: RFC 8725 section 2.1, which a check of `alg` stops. */
export function signWithPublicKey(key: TestKey, joseHeader: unknown, payload: unknown): string {
  const input = `${encodePart(joseHeader)}.${encodePart(payload)}`;
  const secret = key.publicKey.export({ format: 'pem', type: 'spki' });
  return `${input}.${createHmac('sha512', secret).update(input).digest('base64url')}`;
}

/** The payload of a compact JWS whose ES256 signature checks out by one of the keys; undefined otherwise. */
export function openCompact(
  compact: string,
  keys: ReadonlyMap<string, TestKey>,
): { readonly [claim: string]: unknown } | undefined {
  const [header, payload, signature, ...more] = compact.split('.');
  if (header === undefined || payload === undefined || signature === undefined || more.length > 0)
    return undefined;
  const joseHeader = readObject(header);
  const { alg, typ, kid, crit } = joseHeader ?? {};
  if (alg !== 'ES256' || typ !== 'nn-identity+jwt' || typeof kid !== 'string' || crit !== undefined)
    return undefined;
  const key = keys.get(kid);
  if (key === undefined) return undefined;
  const signed = Buffer.from(`${header}.${payload}`);
  const bytes = Buffer.from(signature, 'base64url');
  const valid = verify('sha256', signed, { key: key.publicKey, dsaEncoding: 'ieee-p1363' }, bytes);
  return valid ? readObject(payload) : undefined;
}

function readObject(part: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString('utf8'));
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value))
      : undefined;
  } catch {
    return undefined;
  }
}
