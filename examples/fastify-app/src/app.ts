import nnumbers, { isPerson, requirePerson } from '@nn-runtime/fastify';
import nyxdbEdge from '@nn-runtime/nyxdb-edge/fastify';
import { live } from '@nn-runtime-examples/live';
import fastify, { type FastifyInstance } from 'fastify';
import { page } from './page.js';

/** The application, without a port: who signed in, and data they may see. */
export async function createApp(): Promise<FastifyInstance> {
  // A request that had begun when the process was told to end is answered.
  const app = fastify({ return503OnClosing: false });
  await app.register(nnumbers);
  await app.register(nyxdbEdge, live);
  await app.register(page);

  app.get('/api/me', (request) => request.identity);

  app.get('/api/nations', (request) => request.queryMesh('SELECT name, regionkey FROM tpch.tiny.nation'));

  app.get('/api/private', { onRequest: requirePerson() }, (request) => {
    const { identity } = request;
    return { message: `For ${isPerson(identity) ? (identity.name ?? identity.subject) : 'nobody'} only.` };
  });

  // For this example only: an application does not let a browser choose its SQL.
  app.get<{ Querystring: { sql?: unknown } }>('/api/query', ({ query: { sql }, queryMesh }) =>
    queryMesh(typeof sql === 'string' ? sql : ''),
  );

  return app;
}
