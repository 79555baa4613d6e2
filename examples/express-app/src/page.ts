import { assets, customersPerRegion, home, homeHeaders, longQuery } from '@nn-runtime-examples/page';
import { Router } from 'express';

/** The page at `/`, its files, and the two queries that only it asks for. */
export function page(): Router {
  const router = Router();
  router.get('/', (request, response) => {
    response.set(homeHeaders).send(home('Express', request.identity));
  });

  for (const { path, headers, body } of assets) {
    router.get(path, (_, response) => {
      response.set(headers).send(body);
    });
  }

  router.get('/api/regions', async (request, response) => {
    response.json(await request.queryMesh(customersPerRegion));
  });
  router.get('/api/long-query', async (request, response) => {
    response.json(await request.queryMesh(longQuery));
  });
  return router;
}
