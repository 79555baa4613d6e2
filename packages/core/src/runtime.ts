import { setMaxListeners } from 'node:events';
import { askBroker, type BrokerOptions } from './broker.js';
import { type ClaimReader, createClaimReader, validityFault } from './claims.js';
import { Connections } from './connections.js';
import {
  ConfigurationError,
  IdentityRejectedError,
  IdentityUnavailableError,
  QueryMeshError,
  type RefusalReason,
  RuntimeError,
  SignInRequiredError,
} from './errors.js';
import { publish } from './events.js';
import { QueryGate } from './gate.js';
import { oneHeaderValue, readToken, type UnverifiedToken } from './header.js';
import { anonymous, type Identity, toPerson } from './identity.js';
import { KeyStore, type KeyStoreStatus } from './keys.js';
import { type Configuration, type RuntimeOptions, readConfiguration } from './options.js';
import { type QueryMesh, type QueryOptions, readQuery } from './query.js';
import { type QueryResult, readResult } from './result.js';
import { validateRows } from './rows.js';
import type { Sql } from './sql.js';
import type { StandardSchemaV1 } from './standard-schema.js';
import { VerifiedIdentities, type VerifiedIdentity } from './verified.js';
import { verifyToken } from './verify.js';

/** One request's caller: who it is, and queries on their behalf. Frozen; the signed identity itself is nowhere on it. */
export interface Caller {
  readonly identity: Identity;
  readonly queryMesh: QueryMesh;
}

/** Facts for a health check; no secret among them. */
export interface RuntimeStatus extends KeyStoreStatus {
  /** How many verified identities are kept. */
  readonly identities: number;
}

/** The runtime protocol for one application. */
export interface Runtime {
  /**
   * Who a request is from. Absent (undefined, no lines) is anonymous; present must check out, or it is refused: never anonymous,
   * never a person.
   * @param header the value, or the header lines one by one (see `identityHeaderLines`).
   * @throws IdentityRejectedError (401) when it does not check out.
   * @throws IdentityUnavailableError (503) when nobody can say now, or after `close()`.
   */
  authenticate(header: string | readonly string[] | undefined): Promise<Caller>;
  /** What is known of keys and identities. */
  status(): RuntimeStatus;
  /**
   * Ends what is in flight, refreshes and queries (QUERYMESH_ABORTED), and closes the connections to the broker, but not those of a `fetch`
   * that was handed in. Afterwards nobody is authenticated and nothing is asked. May be called again.
   */
  close(): Promise<void>;
}

/**
 * Makes the runtime of one application: once per process, not per request, since it holds the keys and the verified identities.
 * @throws ConfigurationError naming every wrong variable and option at once.
 */
export function createRuntime(options: RuntimeOptions = {}): Runtime {
  const configuration = readConfiguration(options);
  for (const problem of configuration.environmentKeyProblems) {
    publish('nn-runtime:keys.warning', { source: 'environment', problem });
  }
  const runtime = new ApplicationRuntime(configuration);
  applications.set(runtime, applicationOf(configuration));
  return runtime;
}

/**
 * The runtime of an adapter's options: the one they hand in, or one of their own. For adapters.
 * @throws ConfigurationError naming every wrong variable and option at once, a `runtime` that is none among them.
 */
export function runtimeOf(options: RuntimeOptions & { readonly runtime?: Runtime | undefined }): Runtime {
  const { runtime, ...own } = options;
  if (runtime === undefined) return createRuntime(own);
  if (typeof (runtime as Partial<Runtime> | null)?.authenticate === 'function') return runtime;
  throw new ConfigurationError([{ name: 'runtime', problem: 'must be what createRuntime() gives' }]);
}

const applications = new WeakMap<Runtime, string>();

/**
 * Whether a person of one runtime is a person of the other: they are of one application, and believe the same issuer, keys and broker within the
 * same tolerance. For adapters that meet a request twice: "an identity handed to another application is not valid here".
 */
export function isSameApplication(one: Runtime, other: Runtime): boolean {
  const application = applications.get(one);
  return one === other || (application !== undefined && application === applications.get(other));
}

function applicationOf(configuration: Configuration): string {
  const { issuer, applicationId, organizationId, keySetUrl, queryUrl, clockToleranceSeconds } = configuration;
  const keys = [...configuration.environmentKeys];
  return JSON.stringify([
    [issuer, applicationId, organizationId, keySetUrl, queryUrl, clockToleranceSeconds],
    keys,
  ]);
}

class ApplicationRuntime implements Runtime {
  // All private by `#`: `inspect(runtime)` shows nothing.
  readonly #configuration: Configuration;
  readonly #keys: KeyStore;
  readonly #readClaims: ClaimReader;
  readonly #verified: VerifiedIdentities<Caller>;
  readonly #connections = new Connections();
  readonly #closing = new AbortController();
  #closed = false;
  readonly #broker: BrokerOptions;
  readonly #anonymous: Caller;

  constructor(configuration: Configuration) {
    this.#configuration = configuration;
    const fetch = configuration.fetch ?? this.#connections.ask;
    this.#keys = new KeyStore({ ...configuration, fetch });
    this.#readClaims = createClaimReader(configuration);
    this.#verified = new VerifiedIdentities(configuration.maxIdentities);
    // Every query in flight listens for the end of the runtime: many at once are load, not the leak Node would warn of.
    setMaxListeners(0, this.#closing.signal);
    const gate = new QueryGate(configuration);
    this.#broker = { ...configuration, fetch, closing: this.#closing.signal, gate };
    this.#anonymous = createCaller(anonymous, () => Promise.reject(new SignInRequiredError()));
  }

  // Not an async function: most requests come with an identity that is known, and are answered without one more promise.
  authenticate(header: string | readonly string[] | undefined): Promise<Caller> {
    try {
      if (this.#closed) throw new IdentityUnavailableError({ cause: this.#closing.signal.reason });
      const value = oneHeaderValue(header);
      if (value === undefined) return Promise.resolve(this.#anonymous);
      const known = this.#verified.get(value);
      if (known !== undefined) {
        if (this.#stillValid(known)) {
          publish('nn-runtime:identity.verified', { cached: true });
          return Promise.resolve(known.caller);
        }
        this.#verified.forget(value);
      }
      const token = readToken(value);
      return this.#verified
        .once(token.compact, () => this.#verify(token))
        .catch((error: unknown) => this.#refuse(error));
    } catch (error) {
      return this.#refuse(error);
    }
  }

  status(): RuntimeStatus {
    return { ...this.#keys.status(), identities: this.#verified.size };
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#closing.abort(new Error('the runtime is closed'));
    this.#keys.close();
    this.#verified.close();
    this.#connections.close();
  }

  async #verify(token: UnverifiedToken): Promise<VerifiedIdentity<Caller>> {
    const found = this.#keys.find(token.keyId);
    const key = found instanceof Promise ? await found : found;
    const verifiedPayload = await verifyToken(token, key);
    const { claims, payload } = this.#readClaims(verifiedPayload, this.#configuration.now());
    // Of the token only its text is kept: a closure over the whole would keep its buffers as long as the identity.
    const { compact, keyId } = token;
    const { nbf, exp } = claims;
    const caller = createCaller(toPerson(claims, payload), (sql, options) =>
      this.#query(compact, { nbf, exp }, sql, options),
    );
    publish('nn-runtime:identity.verified', { cached: false });
    return { compact, caller, keyId, key, nbf, exp };
  }

  // Kept identities answer to clock and key set at each use, as a new one would.
  #stillValid(known: VerifiedIdentity<Caller>): boolean {
    const { clockToleranceSeconds, now } = this.#configuration;
    return (
      validityFault(known, clockToleranceSeconds, now()) === undefined &&
      this.#keys.stillTrusts(known.keyId, known.key)
    );
  }

  async #query<S extends StandardSchemaV1 | undefined>(
    compact: string,
    validity: { nbf: number; exp: number },
    sql: string | Sql,
    options: QueryOptions<S> = {},
  ): Promise<QueryResult<never>> {
    const { clockToleranceSeconds, now } = this.#configuration;
    const startedAtMs = now();
    let bytes = 0;
    try {
      if (validityFault(validity, clockToleranceSeconds, startedAtMs) !== undefined) {
        throw new QueryMeshError('IDENTITY_ASSERTION_INVALID');
      }
      const request = readQuery(sql, options, this.#configuration);
      const result = await askBroker(compact, request, this.#broker, (body, signal) => {
        bytes = body.byteLength;
        const decoded = readResult(body, { bigint: options.bigint });
        return options.row === undefined ? decoded : validateRows(decoded, options.row, signal);
      });
      const rows = result.rows.length;
      // Last, so that a row that does not fit is one event as well, and not a success before it.
      publish('nn-runtime:query', {
        status: 200,
        code: 'OK',
        rows,
        bytes,
        milliseconds: now() - startedAtMs,
      });
      return result as QueryResult<never>;
    } catch (error) {
      const { statusCode: status, code } =
        error instanceof RuntimeError ? error : { statusCode: 500, code: 'ERROR' };
      publish('nn-runtime:query', { status, code, rows: 0, bytes, milliseconds: now() - startedAtMs });
      throw error;
    }
  }

  #refuse(error: unknown): Promise<never> {
    this.#tellRefusal(error);
    return Promise.reject(error);
  }

  #tellRefusal(error: unknown): void {
    const reason: RefusalReason | undefined =
      error instanceof IdentityRejectedError
        ? error.reason
        : error instanceof IdentityUnavailableError
          ? 'keys-unavailable'
          : undefined;
    if (reason === undefined || !(error instanceof RuntimeError)) return;
    const refusal = { reason, statusCode: error.statusCode };
    publish('nn-runtime:identity.refused', refusal);
    try {
      const done: unknown = this.#configuration.onRefused(refusal);
      // An async function fits the type too: unheard, its rejection would end the process.
      if (typeof done === 'object') Promise.resolve(done).catch(warnOfHook);
    } catch {
      warnOfHook();
    }
  }
}

// What it threw may hold anything; that it threw is what its author needs to know.
function warnOfHook(): void {
  process.emitWarning('onRefused threw; the refusal stands', 'NNRuntimeWarning');
}

function createCaller(
  identity: Identity,
  query: (sql: string | Sql, options?: QueryOptions<StandardSchemaV1 | undefined>) => Promise<unknown>,
): Caller {
  // The identity's signed form lives in the closure alone. The function is frozen as well: callers of one person share it.
  const queryMesh = ((sql, options) => query(sql, options)) as QueryMesh;
  return Object.freeze({ identity, queryMesh: Object.freeze(queryMesh) });
}
