import websocket from '@fastify/websocket';
import { identityHeaderLines } from '@nn-runtime/core';
import nnumbers, { assertPerson, type NNumbersOptions, requirePerson } from '@nn-runtime/fastify';
import fastify, { type FastifyInstance } from 'fastify';

/** Ours: how long a socket may outlive the identity it was opened with, before the client has to come back with a new one. */
const MAX_SOCKET_MS = 15 * 60_000;

/** An application whose sockets know who they are of. The identity is checked before the upgrade: a wrong one, or none, gets no socket. */
export async function createSocketApp(options: NNumbersOptions = {}): Promise<FastifyInstance> {
  const app = fastify();
  await app.register(nnumbers, options);
  await app.register(websocket, { options: { maxPayload: 64 * 1024 } });

  app.get('/names', { websocket: true, onRequest: requirePerson() }, async (socket, request) => {
    const { identity } = request;
    assertPerson(identity);
    // A message that comes before its listener is lost: this one is there before anything is awaited.
    const caller = app.nnumbers.authenticate(identityHeaderLines(request.raw));
    socket.on('message', async () => {
      // Not `request.queryMesh`: that one ends with the response, and an upgraded request's is over.
      const { queryMesh } = await caller;
      await queryMesh('SELECT name FROM tpch.tiny.nation').then(
        (result) => socket.send(JSON.stringify({ for: identity.subject, ...result.toJSON() })),
        (error: { code?: string }) => socket.send(JSON.stringify({ code: error.code ?? 'ERROR' })),
      );
    });
    const end = setTimeout(() => socket.close(4401, 'come back with a fresh identity'), MAX_SOCKET_MS);
    socket.on('close', () => clearTimeout(end));
  });

  return app;
}
