import type { Anonymous, Identity, Person, QueryResult } from '@nn-runtime/core';
import { requirePerson as expressGuard, nnumbers as middleware } from '@nn-runtime/express';
import nnumbers, { assertPerson, isPerson, requirePerson } from '@nn-runtime/fastify';
import express from 'express';
import Fastify from 'fastify';
import { z } from 'zod';

/** Compiled by `pnpm run types`, never run: what users may write, and what must not compile. */

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const holds = <_T extends true>(): void => undefined;

export async function fastifyTypes(): Promise<void> {
  const app = Fastify();
  await app.register(nnumbers);
  await app.register(nnumbers, { clockToleranceSeconds: 30, onRefused: ({ reason }) => void reason });
  // @ts-expect-error a tolerance is a number of seconds
  await app.register(nnumbers, { clockToleranceSeconds: '30' });
  // @ts-expect-error it makes the hook, and is none
  app.get('/', { onRequest: requirePerson }, async () => 'never');
  app.get('/', { onRequest: requirePerson() }, async (request) => {
    holds<Equal<typeof request.identity, Identity>>();
    // @ts-expect-error an anonymous identity has no subject: `kind` must be asked first
    request.identity.subject;
    // @ts-expect-error nobody assigns an identity
    request.identity = { kind: 'anonymous' };
    if (isPerson(request.identity)) holds<Equal<typeof request.identity, Person>>();
    else holds<Equal<typeof request.identity, Anonymous>>();
    const result = await request.queryMesh('SELECT 1', { maxRows: 1, timeoutMs: 5 });
    holds<Equal<typeof result, QueryResult>>();
    const typed = await request.queryMesh('SELECT 1', { row: z.object({ name: z.string() }) });
    const rows = typed.objects();
    holds<Equal<typeof rows, { name: string }[]>>();
    // @ts-expect-error there is no parameter to choose the person
    await request.queryMesh('SELECT 1', { subject: 'ana' });
    // @ts-expect-error the SQL is a string or made by the tag
    await request.queryMesh(1);
    assertPerson(request.identity);
    holds<Equal<typeof request.identity.subject, string>>();
    // @ts-expect-error the signed identity is on no public object
    request.identity.token;
    return app.nnumbers.status().environmentKeys;
  });
}

/** Request and reply of HTTP/2, of TLS and of routes with types of their own are other types: the guard takes each. */
export async function guardTypes(): Promise<void> {
  const overHttp2 = Fastify({ http2: true });
  await overHttp2.register(nnumbers, { env: undefined });
  overHttp2.addHook('onRequest', requirePerson());
  overHttp2.get('/', { onRequest: requirePerson() }, async (request) => request.queryMesh('SELECT 1'));
  overHttp2.get('/', { preHandler: [requirePerson()] }, async (request) => request.identity.kind);
  const secure = Fastify({ http2: true, https: { key: '', cert: '' } });
  secure.get('/', { onRequest: [requirePerson()] }, async (request) => request.identity.kind);
  const overTls = Fastify({ https: { key: '', cert: '' } });
  overTls.get('/', { onRequest: requirePerson() }, async (request) => request.identity.kind);
  Fastify().get<{ Params: { id: string }; Reply: { 200: string } }>(
    '/:id',
    { onRequest: requirePerson() },
    async (request, reply) => reply.code(200).send(request.params.id),
  );
}

export function expressTypes(): void {
  const app = express();
  app.use(middleware());
  app.use(middleware({ maxIdentities: 10 }));
  // @ts-expect-error there is no such option
  app.use(middleware({ clockTolerance: 30 }));
  // @ts-expect-error it makes the middleware, and is none
  app.use(middleware);
  // @ts-expect-error nor is this
  app.use(expressGuard);
  app.get('/', expressGuard(), async (request, response) => {
    holds<Equal<typeof request.identity, Identity>>();
    // @ts-expect-error an anonymous identity has no name
    request.identity.name;
    const optional: z.ZodObject<{ a: z.ZodNumber }> | undefined = undefined;
    response.json(await request.queryMesh('SELECT 1', { row: optional, maxRows: undefined }));
  });
}
