import type { Identity, QueryMesh } from '@nn-runtime/core';

declare global {
  // The namespace is where the types of Express 4 and 5 let a request be extended.
  namespace Express {
    interface Request {
      /** Who the request is from: a verified person, or the anonymous marker. */
      identity: Identity;
      /**
       * Runs SQL on behalf of the request's person. Ends when the client goes away.
       * @throws SignInRequiredError, QueryMeshError, QueryMeshRowError
       */
      queryMesh: QueryMesh;
    }
  }
}
