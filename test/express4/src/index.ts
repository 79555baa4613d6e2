import { createServer, type Server } from 'node:http';
import {
  errorHandler,
  type Identity,
  type NNumbersOptions,
  nnumbers,
  requirePerson,
} from '@nn-runtime/express';
import express from 'express';

/** What a handler says of the file it is about to send, before its query is refused. */
export const described = {
  'content-type': 'text/csv',
  'content-length': '3',
  'content-encoding': 'gzip',
  'content-disposition': 'attachment; filename="nations.csv"',
  'content-language': 'pt',
  etag: '"1"',
  'last-modified': 'Mon, 30 Nov 2026 12:00:00 GMT',
  'cache-control': 'public, max-age=60',
  'x-kept': '1',
};

/** The routes of the behaviour suite on Express 4, compiled against the types of Express 4. */
export function createExpress4Server(
  options: NNumbersOptions,
  handled: string[],
  visit?: (request: { readonly identity: Identity }) => void,
): Server {
  const app = express();
  app.use(nnumbers(options));
  app.use((request, _response, next) => {
    handled.push(`${request.method} ${request.path}`);
    visit?.(request);
    next();
  });
  app.get('/me', (request, response) => {
    response.json(request.identity);
  });
  app.post('/echo', express.text({ type: () => true, limit: '10mb' }), (request, response) => {
    response.type('text/plain').send(request.body);
  });
  app.get('/private', requirePerson(), (request, response) => {
    response.json(request.identity);
  });
  // Express 4 does not look at a returned promise, so a handler hands its failure on itself.
  app.get('/query', (request, response, next) => {
    request.queryMesh(String(request.query.sql)).then((result) => response.json(result), next);
  });
  app.post('/query', express.text({ type: () => true }), (request, response, next) => {
    request.queryMesh(request.body).then((result) => response.json(result), next);
  });
  app.get('/described', (request, response, next) => {
    response.set(described);
    request.queryMesh('SELECT 1').then((result) => response.json(result), next);
  });
  app.get('/caught', (request, response) => {
    request.queryMesh('SELECT 1').then(
      (result) => response.json(result),
      (error: { code: string }) => response.json({ caught: error.code }),
    );
  });
  app.use(errorHandler());
  return createServer(app);
}

/** A bare application of Express 4. */
export const createExpress4App = (): unknown => express();
