/**
 * A `fetch` that knows one address, without a server: the published keys. Everything else is a host that cannot be
 * reached, so a query becomes `QUERYMESH_UNAVAILABLE`.
 */
export function createTestFetch(keySetUrl: string, jwks: () => object): typeof globalThis.fetch {
  return async (input) => {
    const url = input instanceof Request ? input.url : String(input);
    if (url !== keySetUrl)
      throw new TypeError('fetch failed: these identities have no broker, see createTestBroker()');
    return Response.json(jwks());
  };
}
