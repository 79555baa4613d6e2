import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Identity, QueryMesh, Runtime } from '@nn-runtime/core';
import { errorHandler, nnumbers as middleware } from '@nn-runtime/express';
import nnumbers from '@nn-runtime/fastify';
import { endOnSignal } from '@nn-runtime-examples/shutdown';
import express from 'express';
import Fastify from 'fastify';

/**
 * An application in a process of its own: `http-server.ts FRAMEWORK FAULT`. Its clock is its parent's to set, it tells its heap
 * and handles when asked, and ends on SIGTERM as the examples do. With a fault it is wrong, once in a while, in a way the soak must
 * notice: `swap` (an answer for somebody else), `stranger` (a refused one becomes anonymous), `leak` (memory), `handles`, `stay` (after SIGTERM).
 */
const [framework, fault = 'none'] = process.argv.slice(2);

/** What the parent is told with `stats`. */
export interface ServerStats {
  /** After a full collection. */
  readonly heapBytes: number;
  /** Kinds and how many: sockets, timers, … */
  readonly handles: Readonly<Record<string, number>>;
  readonly identities: number;
  /** Names of process warnings so far. */
  readonly warnings: readonly string[];
}

let clockOffsetMs = 0;
const options = { now: () => Date.now() + clockOffsetMs, maxIdentities: 500 };
const warnings: string[] = [];
process.on('warning', ({ name }) => warnings.push(name));
const leaked: unknown[] = [];
let answers = 0;
let former: object | undefined;

interface Caller {
  readonly identity: Identity;
  readonly queryMesh: QueryMesh;
}

/** The answer tells whose it is. */
function me({ identity }: Caller): object {
  answers++;
  const own =
    identity.kind === 'person'
      ? { kind: 'person', subject: identity.subject, tokenId: identity.tokenId }
      : { kind: 'anonymous' };
  if (fault === 'leak') leaked.push(Buffer.alloc(1024).toString('hex'));
  if (fault === 'handles' && answers % 100 === 0) setInterval(() => {}, 60_000);
  if (fault === 'swap' && answers % 501 === 0 && former !== undefined) return former;
  if (identity.kind === 'person') former = own;
  return own;
}

async function query(caller: Caller, number: string): Promise<object> {
  const result = await caller.queryMesh(`SELECT ${Number(number)}`);
  return { ...me(caller), rows: result.rows };
}

async function startFastify(): Promise<{ server: Server; runtime: Runtime; close: () => Promise<void> }> {
  const app = Fastify({ return503OnClosing: false });
  if (fault === 'stranger')
    app.addHook('onRequest', async (request) => {
      if (++answers % 101 === 0) delete request.raw.headers['x-nnumbers-identity'];
      if (answers % 101 === 0) request.raw.rawHeaders.length = 0;
    });
  await app.register(nnumbers, options);
  app.get('/me', (request) => me(request));
  app.get<{ Querystring: { n: string } }>('/query', (request) => query(request, request.query.n));
  await app.listen({ host: '127.0.0.1', port: 0 });
  return { server: app.server, runtime: app.nnumbers, close: () => app.close() };
}

async function startExpress(): Promise<{ server: Server; runtime: Runtime; close: () => Promise<void> }> {
  const app = express();
  const identify = middleware(options);
  if (fault === 'stranger')
    app.use((request, _response, next) => {
      if (++answers % 101 === 0) request.rawHeaders.length = 0;
      if (answers % 101 === 0) delete request.headers['x-nnumbers-identity'];
      next();
    });
  app.use(identify);
  app.get('/me', (request, response) => {
    response.json(me(request));
  });
  app.get('/query', async (request, response) => {
    response.json(await query(request, String(request.query.n)));
  });
  app.use(errorHandler());
  const server = createServer(app);
  // As Fastify has it: a client that is slow to ask again on a busy machine is no fault.
  server.keepAliveTimeout = 72_000;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { runtime } = identify;
  server.once('close', () => void runtime.close());
  return { server, runtime, close: () => Promise.resolve() };
}

const { server, runtime, close } = await (framework === 'Fastify 5' ? startFastify() : startExpress());

if (fault === 'stay') process.on('SIGTERM', () => {});
else endOnSignal(server, close);
server.once('close', () => process.disconnect());

function stats(): ServerStats {
  globalThis.gc?.();
  const handles: Record<string, number> = {};
  for (const name of process.getActiveResourcesInfo()) handles[name] = (handles[name] ?? 0) + 1;
  const { identities } = runtime.status();
  return { heapBytes: process.memoryUsage().heapUsed, handles, identities, warnings };
}

process.on('message', (asked: 'stats' | { readonly clockOffsetMs: number }) => {
  if (asked === 'stats') process.send?.(stats());
  else {
    clockOffsetMs = asked.clockOffsetMs;
    process.send?.('set');
  }
});
// The parent went away. After SIGTERM it is this process that disconnected, and it must end by itself.
process.on('disconnect', () => {
  if (server.listening) process.exit(1);
});
process.send?.({ port: (server.address() as AddressInfo).port });
