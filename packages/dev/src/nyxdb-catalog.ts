import { type Endpoint, type NyxdbParameter, uuid, type View } from './nyxdb-definition.js';
import { errorText, RequestError } from './nyxdb-error.js';
import type { Binding } from './nyxdb-message.js';
import { isText } from './nyxdb-parameter.js';
import type { Principal, Providers } from './nyxdb-providers.js';

/** A statement with all of its values: ready to run. */
export interface Bound {
  readonly sql: string;
  readonly bindings: readonly Binding[];
}

interface Relation {
  readonly sql: string;
  readonly parameters: readonly NyxdbParameter[];
  readonly claims: readonly NyxdbParameter[];
}

/** The published endpoints and the logical views. */
export class Catalog {
  readonly #endpoints = new Map<string, Relation & { readonly stream: boolean }>();
  readonly #views = new Map<string, View>();

  /** Publishes an endpoint, or replaces the one of this name. @throws TypeError for claims its provider has not */
  publish(endpoint: Endpoint, providers: Providers): void {
    this.#endpoints.set(endpoint.name, { ...endpoint, claims: claimTypes(endpoint, providers) });
  }

  drop(name: string): boolean {
    return this.#endpoints.delete(name);
  }

  /** Creates a view, or replaces the one of this name. @throws TypeError */
  createView(view: View): void {
    refuseTwins(view.name, view.parameters);
    const other = [...this.#views.values()].find(({ id, name }) => id === view.id && name !== view.name);
    if (other !== undefined) throw new TypeError('nyxdb: two views have the same id');
    this.#views.set(view.name, view);
  }

  dropView(name: string): boolean {
    return this.#views.delete(name);
  }

  /**
   * What a request asks for. Endpoint names come before view names; an endpoint consults no grants (contract, "Execute
   * a published query").
   *
   * @throws RequestError
   */
  bind(
    name: string,
    parameters: readonly string[],
    principal: Principal | undefined,
    operation: 'exec' | 'sub',
  ): Bound {
    const endpoint = this.#endpoints.get(name);
    if (endpoint !== undefined) {
      // "A one-shot endpoint returns `invalid parameter` when used with the subscription operation"; the other way
      // round is ours.
      if (endpoint.stream !== (operation === 'sub')) throw new RequestError(errorText.invalidParameter);
      return bindValues(endpoint, parameters, principal);
    }
    const view = this.#view(name);
    if (view === undefined) throw new RequestError(errorText.unknownEndpoint);
    // Own properties only: a role named `constructor` has no grants.
    const role = principal?.role ?? '';
    const granted = Object.hasOwn(view.grants, role) ? view.grants[role] : undefined;
    if (!granted?.includes(operation === 'exec' ? 'read' : 'subscribe'))
      throw new RequestError(errorText.notGranted);
    return bindValues({ ...view, claims: [] }, parameters, principal);
  }

  #view(name: string): View | undefined {
    if (!uuid.test(name)) return this.#views.get(name);
    return [...this.#views.values()].find(({ id }) => id === name.toLowerCase());
  }
}

/** The claims of an endpoint with the types its provider gives them. @throws TypeError */
function claimTypes({ name, using, parameters, claims }: Endpoint, providers: Providers): NyxdbParameter[] {
  const provider = providers.get(using);
  if (provider === undefined) throw new TypeError(`nyxdb: ${name} is USING ${using}, which is no provider`);
  const typed = claims.map((claim) => {
    const type = Object.hasOwn(provider.claims, claim) ? provider.claims[claim] : undefined;
    if (type === undefined) throw new TypeError(`nyxdb: ${using} has no claim ${claim}`);
    return { name: claim, type };
  });
  refuseTwins(name, [...parameters, ...typed]);
  return typed;
}

// DuckDB makes one parameter of `$user_id` and `$USER_ID`: the client's value would stand for the claim.
function refuseTwins(name: string, parameters: readonly NyxdbParameter[]): void {
  const names = parameters.map((parameter) => parameter.name.toLowerCase());
  if (new Set(names).size !== names.length) throw new TypeError(`nyxdb: ${name} declares a name twice`);
}

/** Client values in declaration order; then the claims, from the authenticated row and from nowhere else. */
function bindValues(
  { sql, parameters, claims }: Relation,
  values: readonly string[],
  principal: Principal | undefined,
): Bound {
  if (values.length !== parameters.length) throw new RequestError(errorText.invalidParameter);
  const bindings: Binding[] = parameters.map(({ name, type }, index) => {
    const text = values[index];
    if (text === undefined || !isText(type, text)) throw new RequestError(errorText.invalidParameter);
    return { name, type, text };
  });
  for (const { name, type } of claims) {
    const claim = principal?.claims.get(name);
    // Whichever provider admitted the session: "compatible claim names and types" are what counts.
    if (claim?.type !== type) throw new RequestError(errorText.invalidParameter);
    bindings.push({ name, type, text: claim.text });
  }
  return { sql, bindings };
}
