import { checkClaims, type Provider, type SessionRow } from './nyxdb-definition.js';
import type { NyxdbType } from './nyxdb-message.js';

/** Who a connection is, for as long as it lives: later changes of the row do not rebind it. */
export interface Principal {
  readonly userId: string;
  readonly role: string | undefined;
  readonly claims: ReadonlyMap<string, { readonly type: NyxdbType; readonly text: string }>;
}

/** Rows that live elsewhere: the platform's own sessions. */
export type LiveRows = (token: string) => Readonly<Record<string, string>> | undefined;

/** The auth providers and their rows. */
export class Providers {
  readonly #providers = new Map<string, { provider: Provider; rows: SessionRow[]; live: LiveRows }>();
  /** What connections ask to be told when their row goes, by provider and token. */
  readonly #watchers = new Map<string, Set<() => void>>();

  add(provider: Provider, live: LiveRows = () => undefined): void {
    if (this.#providers.has(provider.name))
      throw new TypeError(`nyxdb: two providers named ${provider.name}`);
    this.#providers.set(provider.name, { provider, rows: [], live });
  }

  get(name: string): Provider | undefined {
    return this.#providers.get(name)?.provider;
  }

  /** A second row with the same token is taken: the lookup then finds many, and authentication fails. */
  addRow(row: SessionRow): void {
    const found = this.#find(row.provider);
    checkClaims(found.provider, row.claims);
    found.rows.push(row);
  }

  /** Changes the claims of a row. Connections that came by it keep what they had (contract, "Revocation frames"). */
  updateRow(row: SessionRow): void {
    const { provider, rows } = this.#find(row.provider);
    checkClaims(provider, row.claims);
    const at = rows.findIndex(({ token }) => token === row.token);
    if (at < 0) throw new RangeError('nyxdb: no session has this token');
    rows[at] = row;
  }

  /** Removes the rows of a token, and revokes every connection that came by it. Gives how many rows there were. */
  removeRow(name: string, token: string): number {
    const { rows } = this.#find(name);
    const gone = rows.filter((row) => row.token === token).length;
    const kept = rows.filter((row) => row.token !== token);
    rows.splice(0, rows.length, ...kept);
    this.revoke(name, token);
    return gone;
  }

  revoke(name: string, token: string): void {
    for (const revoked of [...(this.#watchers.get(`${name}\0${token}`) ?? [])]) revoked();
  }

  /**
   * Looks a token up. An empty provider name selects the only provider. Every miss is the same `undefined`: an
   * unknown or ambiguous provider, no row, many rows.
   *
   * @param revoked - called once the row is gone
   */
  authenticate(
    name: string,
    token: string,
    revoked: () => void,
  ): { principal: Principal; forget: () => void } | undefined {
    const single = this.#providers.size === 1 ? [...this.#providers.keys()][0] : undefined;
    const key = name === '' ? single : name;
    const found = key === undefined ? undefined : this.#providers.get(key);
    if (found === undefined) return undefined;
    const { provider, rows, live } = found;
    const claims = rows.filter((row) => row.token === token).map((row) => row.claims);
    const signedIn = live(token);
    if (signedIn !== undefined) claims.push(signedIn);
    const [row, ...more] = claims;
    if (row === undefined || more.length > 0) return undefined;
    return {
      principal: principalOf(provider, row),
      forget: this.#watch(`${provider.name}\0${token}`, revoked),
    };
  }

  #watch(key: string, revoked: () => void): () => void {
    const watchers = this.#watchers.get(key) ?? new Set();
    this.#watchers.set(key, watchers);
    watchers.add(revoked);
    return () => {
      watchers.delete(revoked);
      if (watchers.size === 0 && this.#watchers.get(key) === watchers) this.#watchers.delete(key);
    };
  }

  #find(name: string) {
    const found = this.#providers.get(name);
    if (found === undefined) throw new TypeError(`nyxdb: no provider is named ${name}`);
    return found;
  }
}

function principalOf(provider: Provider, claims: Readonly<Record<string, string>>): Principal {
  const bound = Object.entries(provider.claims).map(
    ([name, type]) => [name, { type, text: claims[name] ?? '' }] as const,
  );
  return { userId: claims.user_id ?? '', role: claims.role, claims: new Map(bound) };
}
