import type { Runtime } from '@nn-runtime/core';
import { errorHandler, isPerson, nnumbers, requirePerson } from '@nn-runtime/express';
import { home, homeHeaders } from '@nn-runtime-examples/page';
import express, { type Express } from 'express';

/** The application, without a port: who signed in, and data they may see. */
export function createApp(runtime: Runtime): Express {
  const app = express();
  app.disable('x-powered-by');
  app.use(nnumbers({ runtime }));

  app.get('/', (request, response) => {
    response.set(homeHeaders).send(home('Express', request.identity));
  });

  app.get('/api/me', (request, response) => {
    response.json(request.identity);
  });

  app.get('/api/nations', async (request, response) => {
    response.json(await request.queryMesh('SELECT name, regionkey FROM tpch.tiny.nation'));
  });

  app.get('/api/private', requirePerson(), ({ identity }, response) => {
    response.json({
      message: `For ${isPerson(identity) ? (identity.name ?? identity.subject) : 'nobody'} only.`,
    });
  });

  // For this example only: an application does not let a browser choose its SQL.
  app.get('/api/query', async (request, response) => {
    const { sql } = request.query;
    response.json(await request.queryMesh(typeof sql === 'string' ? sql : ''));
  });

  app.use(errorHandler());
  return app;
}
