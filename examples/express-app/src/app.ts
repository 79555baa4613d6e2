import type { Runtime } from '@nn-runtime/core';
import { errorHandler, isPerson, nnumbers, requirePerson } from '@nn-runtime/express';
import express, { type Express } from 'express';
import { page } from './page.js';

/** The application, without a port: who signed in, and data they may see. */
export function createApp(runtime: Runtime): Express {
  const app = express();
  app.disable('x-powered-by');
  app.use(nnumbers({ runtime }));
  app.use(page());

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
