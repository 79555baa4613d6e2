import { randomBytes } from 'node:crypto';
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, type JWTPayload, SignJWT } from 'jose';

interface SigningKey {
  readonly kid: string;
  readonly privateKey: CryptoKey;
  readonly publicKey: CryptoKey;
  readonly publicJwk: JWK;
}

/**
 * The platform's signing keys: ES256, made at start and kept in memory only, so that no identity of a local
 * platform outlives it.
 */
export interface Keys {
  /** The public key set, as the broker publishes it and `NNUMBERS_IDENTITY_JWKS` carries it. */
  jwks(): { keys: JWK[] };
  /** The public key of a kid that is still published. */
  publicKey(kid: string): CryptoKey | undefined;
  /** Signs an identity: header `alg`, `typ` and `kid` as the runtime protocol has them. */
  sign(claims: JWTPayload): Promise<string>;
  /** Makes a new key and signs with it from now on; the former keys stay published. Gives the new kid. */
  rotate(): Promise<string>;
  /** Takes a key out of the published set; when it was the last one, or the one that signs, a new one is made. */
  withdraw(kid?: string | undefined): Promise<string>;
}

async function createKey(): Promise<SigningKey> {
  const { privateKey, publicKey } = await generateKeyPair('ES256');
  const kid = `dev-${randomBytes(6).toString('hex')}`;
  const { kty, crv, x, y } = await exportJWK(publicKey);
  if (kty === undefined || crv === undefined || x === undefined || y === undefined)
    throw new Error('the generated key is not an EC key');
  return { kid, privateKey, publicKey, publicJwk: { kty, crv, x, y, kid, alg: 'ES256', use: 'sig' } };
}

export async function createKeys(): Promise<Keys> {
  let current = await createKey();
  const published = new Map([[current.kid, current]]);

  async function rotate(): Promise<string> {
    current = await createKey();
    published.set(current.kid, current);
    return current.kid;
  }

  return {
    jwks: () => ({ keys: [...published.values()].map((key) => key.publicJwk) }),
    publicKey: (kid) => published.get(kid)?.publicKey,
    sign: (claims) =>
      new SignJWT(claims)
        .setProtectedHeader({ alg: 'ES256', typ: 'nn-identity+jwt', kid: current.kid })
        .sign(current.privateKey),
    rotate,
    async withdraw(kid) {
      const withdrawn = kid ?? [...published.keys()].at(0) ?? current.kid;
      if (!published.delete(withdrawn)) throw new RangeError('no published key has this kid');
      if (withdrawn === current.kid) await rotate();
      return withdrawn;
    },
  };
}
