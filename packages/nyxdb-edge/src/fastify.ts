import type { Runtime } from '@nn-runtime/core';
import type { FastifyInstance, FastifyPluginAsync } from 'fastify';
import { createNyxdbEdge } from './edge.js';
import type { NyxdbEdgeOptions } from './options.js';

/** Options of the plugin: those of `createNyxdbEdge`, with the runtime of `@nn-runtime/fastify` as the default one. */
export interface NyxdbEdgePluginOptions extends Omit<NyxdbEdgeOptions, 'runtime'> {
  /** Default: `app.nnumbers`, of the nnumbers plugin in this scope or above. */
  readonly runtime?: Runtime | undefined;
}

/**
 * The edge in front of NYXDB as a Fastify plugin: `await app.register(nyxdbEdge, { path: '/live', … })`. A `prefix` goes before the path.
 * `app.close()` drains it. For `status()`, attach an edge of `createNyxdbEdge` to `app.server` instead.
 *
 * @throws ConfigurationError (of `@nn-runtime/core`) at registration, naming every wrong option at once.
 */
export const nyxdbEdge: FastifyPluginAsync<NyxdbEdgePluginOptions> = async (app, options) => {
  // What Fastify itself reads of a plugin's options.
  const {
    prefix: _prefix,
    logLevel: _level,
    logSerializers: _serializers,
    ...own
  } = { ...options } as typeof options & {
    readonly prefix?: unknown;
    readonly logLevel?: unknown;
    readonly logSerializers?: unknown;
  };
  const { nnumbers } = app as FastifyInstance & { readonly nnumbers?: Runtime };
  const runtime = own.runtime ?? nnumbers;
  const edge = createNyxdbEdge({
    ...own,
    // Checked with everything else, so that all faults are named at once.
    runtime: runtime as Runtime,
    path: typeof own.path === 'string' ? app.prefix + own.path : own.path,
  });
  edge.attach(app.server);
  // Before Fastify closes the server, which waits for every socket.
  app.addHook('preClose', () => edge.drain());
};
export default nyxdbEdge;
