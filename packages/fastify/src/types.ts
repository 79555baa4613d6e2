import type { Identity, QueryMesh, Runtime } from '@nn-runtime/core';

declare module 'fastify' {
  interface FastifyRequest {
    /** Who the request is from: a verified person, or the anonymous marker. */
    readonly identity: Identity;
    /**
     * Runs SQL on behalf of the request's person. Ends when the client goes away.
     * @throws SignInRequiredError, QueryMeshError, QueryMeshRowError
     */
    readonly queryMesh: QueryMesh;
  }
  interface FastifyInstance {
    /** The runtime behind `request.identity`: its `status()` for health checks. */
    readonly nnumbers: Runtime;
  }
}
