import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Writable } from 'node:stream';
import { errorHandler, nnumbers as middleware, requirePerson as personMiddleware } from '@nn-runtime/express';
import nnumbers, { type Identity, type NNumbersOptions, requirePerson } from '@nn-runtime/fastify';
import { createExpress4Server, described } from '@nn-runtime-test/express4';
import express from 'express';
import Fastify from 'fastify';

/** One application with the same routes on each framework: what is true of one must be true of all. */
export interface Framework {
  readonly name: string;
  start(options: NNumbersOptions, extras?: Extras): Promise<RunningApplication>;
}

/** What some tests want of the application besides its routes. */
export interface Extras {
  /** Sees each request that got past the identity check, before its handler. */
  readonly visit?: ((request: { readonly identity: Identity }) => void) | undefined;
  /** Where Fastify logs, at level trace; it does not log otherwise. Express has no log of its own. */
  readonly log?: Writable | undefined;
}

export interface RunningApplication {
  readonly url: string;
  readonly port: number;
  /** `METHOD /path` of every request that got past the identity check. */
  readonly handled: string[];
  close(): Promise<void>;
}

export const frameworks: readonly Framework[] = [
  {
    name: 'Fastify 5',
    async start(options, { visit, log } = {}) {
      const handled: string[] = [];
      const app = Fastify({
        bodyLimit: 10_000_000,
        logger: log === undefined ? false : { level: 'trace', stream: log },
      });
      await app.register(nnumbers, options);
      app.addHook('onRequest', async (request) => {
        handled.push(`${request.method} ${request.url.split('?')[0]}`);
        visit?.(request);
      });
      app.removeAllContentTypeParsers();
      app.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body));
      app.get('/me', async (request) => request.identity);
      app.post('/echo', async (request, reply) => reply.type('text/plain').send(request.body));
      app.get('/private', { onRequest: requirePerson() }, async (request) => request.identity);
      app.get<{ Querystring: { sql: string } }>('/query', async (request) =>
        request.queryMesh(request.query.sql),
      );
      app.post<{ Body: string }>('/query', async (request) => request.queryMesh(request.body));
      app.get('/described', async (request, reply) => {
        reply.headers(described);
        return request.queryMesh('SELECT 1');
      });
      app.get('/caught', async (request) => {
        try {
          return await request.queryMesh('SELECT 1');
        } catch (error) {
          return { caught: (error as { code: string }).code };
        }
      });
      await app.listen({ host: '127.0.0.1', port: 0 });
      const { port } = app.server.address() as AddressInfo;
      return { url: `http://127.0.0.1:${port}`, port, handled, close: () => app.close() };
    },
  },
  {
    name: 'Express 5',
    start(options, { visit } = {}) {
      const handled: string[] = [];
      const app = express();
      app.use(middleware(options));
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
      app.get('/private', personMiddleware(), (request, response) => {
        response.json(request.identity);
      });
      app.get('/query', async (request, response) => {
        response.json(await request.queryMesh(String(request.query.sql)));
      });
      app.post('/query', express.text({ type: () => true }), async (request, response) => {
        response.json(await request.queryMesh(request.body));
      });
      app.get('/described', async (request, response) => {
        response.set(described);
        response.json(await request.queryMesh('SELECT 1'));
      });
      app.get('/caught', async (request, response) => {
        const result = await request
          .queryMesh('SELECT 1')
          .catch((error: { code: string }) => ({ caught: error.code }));
        response.json(result);
      });
      app.use(errorHandler());
      return listen(createServer(app), handled);
    },
  },
  {
    name: 'Express 4',
    start(options, { visit } = {}) {
      const handled: string[] = [];
      return listen(createExpress4Server(options, handled, visit), handled);
    },
  },
];

async function listen(server: Server, handled: string[]): Promise<RunningApplication> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    handled,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
