import type { KeyObject } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { IdentityRejectedError, IdentityUnavailableError } from './errors.js';
import { publish } from './events.js';

/** An identity that was verified, with what must still hold at each use. */
export interface VerifiedIdentity<C> {
  /** The whole token it was verified from. */
  readonly compact: string;
  readonly caller: C;
  readonly keyId: string;
  readonly key: KeyObject;
  /** Seconds since the epoch. */
  readonly nbf: number;
  readonly exp: number;
}

/**
 * Verified identities, bounded; and those being verified, once each. A signature is looked up, the whole token compared:
 * the twin (r, n−s) of a signature verifies too, and is simply
 * another token here (design I2, I10). Failures are never kept.
 */
export class VerifiedIdentities<C> {
  readonly #kept: LRUCache<string, VerifiedIdentity<C>> | undefined;
  readonly #underWay = new Map<string, Promise<C>>();
  #closed = false;

  constructor(maxIdentities: number) {
    this.#kept = maxIdentities === 0 ? undefined : new LRUCache({ max: maxIdentities });
  }

  get size(): number {
    return this.#kept?.size ?? 0;
  }

  get(compact: string): VerifiedIdentity<C> | undefined {
    const found = this.#kept?.get(signatureOf(compact));
    return found?.compact === compact ? found : undefined;
  }

  forget(compact: string): void {
    this.#kept?.delete(signatureOf(compact));
  }

  /** Runs a verification, or joins the one of the same token that is under way. */
  once(compact: string, verify: () => Promise<VerifiedIdentity<C>>): Promise<C> {
    const underWay = this.#underWay.get(compact);
    if (underWay !== undefined) return underWay.then(tellJoined, throwOwnRefusal);
    const verification = this.#keep(compact, verify);
    this.#underWay.set(compact, verification);
    return verification;
  }

  async #keep(compact: string, verify: () => Promise<VerifiedIdentity<C>>): Promise<C> {
    try {
      const verified = await verify();
      if (!this.#closed) this.#kept?.set(signatureOf(compact), verified);
      return verified.caller;
    } finally {
      this.#underWay.delete(compact);
    }
  }

  /** Forgets everybody; what is still being verified will not be kept either. */
  close(): void {
    this.#closed = true;
    this.#kept?.clear();
  }
}

// Each request that is somebody's is one event, also when another one's verification served it.
function tellJoined<C>(caller: C): C {
  publish('nn-runtime:identity.verified', { cached: true });
  return caller;
}

// An error is mutable, and those who wait for one verification are different requests: each gets its own.
function throwOwnRefusal(error: unknown): never {
  if (error instanceof IdentityRejectedError) throw new IdentityRejectedError(error.reason);
  throw error instanceof IdentityUnavailableError
    ? new IdentityUnavailableError({ cause: error.cause })
    : error;
}

// The signature of a token that checked out is its last 86 characters.
function signatureOf(compact: string): string {
  return compact.slice(-86);
}
