import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import jwt from '@fastify/jwt';
import { nnumbers as middleware } from '@nn-runtime/express';
import nnumbers from '@nn-runtime/fastify';
import express from 'express';
import { auth } from 'express-oauth2-jwt-bearer';
import Fastify, { type FastifyInstance } from 'fastify';

/** One server in a process of its own: `node bench/http-server.ts KIND`. Tells its port, then its CPU time when asked. */

export const SERVER_KINDS = [
  'Fastify, bare',
  'Fastify, ours',
  'Fastify, @fastify/jwt',
  'Express, bare',
  'Express, ours',
  'Express, express-oauth2-jwt-bearer',
] as const;
export type ServerKind = (typeof SERVER_KINDS)[number];

/** What the parent asks for with `cpu`. */
export interface CpuAnswer {
  readonly cpuMicroseconds: number;
}

const env = process.env;
const ANSWER = { subject: 'person-0' };

async function fastifyOf(prepare: (app: FastifyInstance) => Promise<void>): Promise<number> {
  const app = Fastify();
  await prepare(app);
  await app.listen({ host: '127.0.0.1', port: 0 });
  return (app.server.address() as AddressInfo).port;
}

async function listen(handler: Parameters<typeof createServer>[1]): Promise<number> {
  const server = createServer(handler);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

const kinds: Readonly<Record<ServerKind, () => Promise<number>>> = {
  'Fastify, bare': () =>
    fastifyOf(async (app) => {
      app.get('/me', async () => ANSWER);
    }),
  'Fastify, ours': () =>
    fastifyOf(async (app) => {
      await app.register(nnumbers);
      app.get('/me', async ({ identity }) =>
        identity.kind === 'person' ? { subject: identity.subject } : { subject: null },
      );
    }),
  'Fastify, @fastify/jwt': () =>
    fastifyOf(async (app) => {
      await app.register(jwt, {
        secret: { public: env.BENCH_PEM ?? '', private: '' },
        verify: {
          algorithms: ['ES256'],
          allowedIss: env.NNUMBERS_IDENTITY_ISSUER ?? '',
          allowedAud: env.NNUMBERS_APP_ID ?? '',
          cache: 10_000,
          extractToken: (request) => String(request.headers['x-nnumbers-identity']),
        },
      });
      app.addHook('onRequest', (request) => request.jwtVerify());
      app.get('/me', async ({ user }) => ({ subject: (user as { sub: string }).sub }));
    }),
  'Express, bare': () => {
    const app = express();
    app.get('/me', (_request, response) => {
      response.json(ANSWER);
    });
    return listen(app);
  },
  'Express, ours': () => {
    const app = express();
    app.use(middleware());
    app.get('/me', ({ identity }, response) => {
      response.json(identity.kind === 'person' ? { subject: identity.subject } : { subject: null });
    });
    return listen(app);
  },
  'Express, express-oauth2-jwt-bearer': async () => {
    const keys = await listen((_request, response) => {
      response.setHeader('content-type', 'application/json').end(env.NNUMBERS_IDENTITY_JWKS);
    });
    const app = express();
    app.use(
      auth({
        issuer: env.NNUMBERS_IDENTITY_ISSUER ?? '',
        audience: env.NNUMBERS_APP_ID ?? '',
        jwksUri: `http://127.0.0.1:${keys}/`,
        tokenSigningAlg: 'ES256',
      }),
    );
    app.get('/me', ({ auth: verified }, response) => {
      response.json({ subject: verified?.payload.sub });
    });
    return listen(app);
  },
};

const kind = SERVER_KINDS.find((name) => name === process.argv[2]);
if (kind !== undefined && process.send !== undefined) {
  process.on('message', () => {
    const { user, system } = process.cpuUsage();
    process.send?.({ cpuMicroseconds: user + system } satisfies CpuAnswer);
  });
  // The end of the parent is the end of this.
  process.on('disconnect', () => process.exit());
  process.send({ port: await kinds[kind]() });
}
