import { assets, customersPerRegion, home, homeHeaders, longQuery } from '@nn-runtime-examples/page';
import type { FastifyInstance } from 'fastify';

/** The page at `/`, its files, and the two queries that only it asks for. */
export async function page(app: FastifyInstance): Promise<void> {
  app.get('/', (request, reply) => {
    reply.headers(homeHeaders).send(home('Fastify', request.identity));
  });

  for (const { path, headers, body } of assets) {
    app.get(path, (_, reply) => {
      reply.headers(headers).send(body);
    });
  }

  app.get('/api/regions', (request) => request.queryMesh(customersPerRegion));
  app.get('/api/long-query', (request) => request.queryMesh(longQuery));
}
