import { KeyObject } from 'node:crypto';
import { importJWK } from 'jose';
import { steadyClock } from './clock.js';
import { IdentityRejectedError, IdentityUnavailableError } from './errors.js';
import { publish } from './events.js';
import type { HttpClient } from './http-client.js';
import { fetchKeySet, KeyFetchError } from './key-fetch.js';
import type { VerificationJwk } from './key-set.js';
import { Backoff, FloodBudget, MissingKeyIds } from './pace.js';
import { IDENTITY_ALGORITHM } from './wire.js';

/** What a key store needs; all of it is handed in, so that time and network are the caller's. */
export interface KeyStoreOptions {
  /** The trust root: keys of the environment, without expiry. Empty when the environment names an address instead. */
  readonly environmentKeys: ReadonlyMap<string, VerificationJwk>;
  /** Where the broker publishes its keys. */
  readonly keySetUrl: string;
  /** Deadline of one fetch, in milliseconds. */
  readonly keySetTimeoutMs: number;
  readonly fetch: HttpClient;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** In [0, 1). */
  readonly random: () => number;
}

/** What is known of the keys, for health checks. */
export interface KeyStoreStatus {
  readonly environmentKeys: number;
  readonly brokerKeys: number;
  readonly brokerKeysAgeSeconds?: number | undefined;
  readonly lastRefresh: 'never' | 'ok' | 'failed';
}

interface ImportedKey {
  readonly jwk: VerificationJwk;
  readonly key: KeyObject;
}

interface BrokerSet {
  readonly keys: ReadonlyMap<string, ImportedKey>;
  readonly fetchedAtMs: number;
}

const FRESH_MS = 5 * 60_000;
const TRUSTED_MS = 15 * 60_000;

/**
 * The keys that may sign identities: those of the environment, and the broker's for what these lack.
 * Freshness is design I7, the flood budget I8, and which of two refusals an unknown key gets I9.
 */
export class KeyStore {
  readonly #options: KeyStoreOptions;
  readonly #now: () => number;
  #environment: ReadonlyMap<string, ImportedKey> | undefined;
  readonly #imported: Promise<void>;
  readonly #backoff: Backoff;
  readonly #budget: FloodBudget;
  readonly #missing: MissingKeyIds;
  readonly #closing = new AbortController();
  #broker: BrokerSet | undefined;
  #refresh: Promise<void> | undefined;
  #lastRefresh: 'never' | 'ok' | 'failed' = 'never';

  constructor(options: KeyStoreOptions) {
    this.#options = options;
    this.#now = steadyClock(options.now);
    this.#backoff = new Backoff(this.#now, options.random);
    this.#budget = new FloodBudget(this.#now);
    this.#missing = new MissingKeyIds(this.#now);
    this.#imported = importKeys(options.environmentKeys, new Map()).then((keys) => {
      this.#environment = keys;
    });
  }

  /**
   * The key of that ID.
   * @throws IdentityRejectedError `unknown-key` when a good and fresh set lacks it.
   * @throws IdentityUnavailableError when no such set can be had now.
   */
  find(keyId: string): KeyObject | Promise<KeyObject> {
    if (this.#environment === undefined) return this.#imported.then(() => this.find(keyId));
    const environmentKey = this.#environment.get(keyId);
    if (environmentKey !== undefined) return environmentKey.key;
    const known = this.#trusted(keyId);
    if (known !== undefined) {
      this.#keepFresh();
      return known;
    }
    return this.#look(keyId);
  }

  /** Whether a key that was found before still counts. Starts the refresh of a set that grew stale. */
  stillTrusts(keyId: string, key: KeyObject): boolean {
    // An environment key never goes, and hides a broker's key of the same ID.
    if (this.#options.environmentKeys.has(keyId)) return true;
    if (this.#trusted(keyId) !== key) return false;
    this.#keepFresh();
    return true;
  }

  status(): KeyStoreStatus {
    const ageMs = this.#ageMs();
    return {
      environmentKeys: this.#options.environmentKeys.size,
      brokerKeys: this.#broker?.keys.size ?? 0,
      ...(ageMs !== undefined && { brokerKeysAgeSeconds: Math.floor(ageMs / 1000) }),
      lastRefresh: this.#lastRefresh,
    };
  }

  /** Ends a refresh in flight; nothing is fetched afterwards. */
  close(): void {
    this.#closing.abort();
  }

  // An unknown key, or one of a set too old to trust.
  async #look(keyId: string): Promise<KeyObject> {
    // A fetch that was under way when this key came may have been answered before the key was published,
    // so it does not count as this key's own look.
    await this.#refresh;
    let key = this.#trusted(keyId);
    if (key !== undefined) return key;
    const former = this.#broker;
    if (!this.#missing.has(keyId) && this.#mayLook()) {
      await (this.#refresh ?? this.#startRefresh());
      key = this.#trusted(keyId);
      if (key !== undefined) return key;
      // A look that failed says nothing about the key ID.
      if (this.#broker !== former) this.#missing.add(keyId);
    }
    if (this.#isFresh()) throw new IdentityRejectedError('unknown-key');
    throw new IdentityUnavailableError();
  }

  #mayLook(): boolean {
    // Somebody else's look began after this key came: it serves both.
    if (this.#refresh !== undefined) return true;
    if (!this.#mayFetch()) return false;
    // A set that is due for its refresh anyway costs the flood budget nothing.
    if (this.#broker !== undefined && !this.#isFresh()) return true;
    return this.#budget.take();
  }

  #mayFetch(): boolean {
    return !this.#closing.signal.aborted && this.#backoff.allows();
  }

  #keepFresh(): void {
    if (!this.#isFresh() && this.#refresh === undefined && this.#mayFetch()) void this.#startRefresh();
  }

  #trusted(keyId: string): KeyObject | undefined {
    const ageMs = this.#ageMs();
    return ageMs !== undefined && ageMs < TRUSTED_MS ? this.#broker?.keys.get(keyId)?.key : undefined;
  }

  #isFresh(): boolean {
    const ageMs = this.#ageMs();
    return ageMs !== undefined && ageMs < FRESH_MS;
  }

  #ageMs(): number | undefined {
    return this.#broker === undefined ? undefined : this.#now() - this.#broker.fetchedAtMs;
  }

  // One in flight, shared by everybody, and never rejecting: what it brought is read from the set.
  #startRefresh(): Promise<void> {
    const refresh = this.#fetchAndReplace().finally(() => {
      this.#refresh = undefined;
    });
    this.#refresh = refresh;
    return refresh;
  }

  async #fetchAndReplace(): Promise<void> {
    const startedAtMs = this.#now();
    try {
      const set = await fetchKeySet({
        url: this.#options.keySetUrl,
        fetch: this.#options.fetch,
        timeoutMs: this.#options.keySetTimeoutMs,
        signal: this.#closing.signal,
      });
      const keys = await importKeys(set.keys, this.#broker?.keys ?? new Map());
      // Replaced whole: a key the broker withdrew is gone with this answer. Its age counts from the question, not the answer.
      this.#broker = { keys, fetchedAtMs: startedAtMs };
      this.#missing.clear(keys.keys());
      this.#backoff.succeeded();
      this.#lastRefresh = 'ok';
      for (const problem of set.problems) publish('nn-runtime:keys.warning', { source: 'broker', problem });
      for (const keyId of keys.keys()) {
        if (this.#options.environmentKeys.has(keyId)) {
          publish('nn-runtime:keys.warning', { source: 'broker', problem: 'shadowed-key-id' });
        }
      }
      publish('nn-runtime:keys.refreshed', {
        outcome: 'ok',
        keys: keys.size,
        milliseconds: this.#now() - startedAtMs,
      });
    } catch (error) {
      this.#backoff.failed();
      this.#lastRefresh = 'failed';
      publish('nn-runtime:keys.refreshed', {
        outcome: 'failed',
        problem: error instanceof KeyFetchError ? error.problem : 'no-usable-key',
        milliseconds: this.#now() - startedAtMs,
      });
    }
  }
}

async function importKeys(
  jwks: ReadonlyMap<string, VerificationJwk>,
  former: ReadonlyMap<string, ImportedKey>,
): Promise<ReadonlyMap<string, ImportedKey>> {
  const imported = new Map<string, ImportedKey>();
  for (const [keyId, jwk] of jwks) {
    const same = former.get(keyId);
    // The same key stays the same object, so that identities verified with it outlive a refresh.
    if (same !== undefined && same.jwk.x === jwk.x && same.jwk.y === jwk.y) {
      imported.set(keyId, same);
      continue;
    }
    const key = await importJWK({ ...jwk }, IDENTITY_ALGORITHM);
    if (!(key instanceof Uint8Array)) imported.set(keyId, { jwk, key: KeyObject.from(key) });
  }
  return imported;
}
