import { type KeyObject, verify } from 'node:crypto';
import { IdentityRejectedError } from './errors.js';
import type { UnverifiedToken } from './header.js';

/**
 * Checks the signature and gives the payload, verified from here on.
 *
 * Node's asynchronous `verify` runs on the thread pool, so that a burst of new tokens does not hold up the event loop
 * (design I15). ES256 is fixed here: nothing of the token chooses the algorithm.
 * @throws IdentityRejectedError `signature`.
 */
export function verifyToken(token: UnverifiedToken, key: KeyObject): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    verify(
      'sha256',
      token.signingInput,
      { key, dsaEncoding: 'ieee-p1363' },
      token.signature,
      (error, verified) => {
        if (error === null && verified) resolve(Buffer.from(token.unverifiedPayload, 'base64url'));
        else reject(new IdentityRejectedError('signature'));
      },
    );
  });
}
