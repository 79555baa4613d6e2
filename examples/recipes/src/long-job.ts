import { randomUUID } from 'node:crypto';
import { identityHeaderLines, QueryMeshError } from '@nn-runtime/core';
import nnumbers, { assertPerson, isPerson, type NNumbersOptions, requirePerson } from '@nn-runtime/fastify';
import fastify, { type FastifyInstance } from 'fastify';

interface Report {
  readonly owner: string;
  state: 'running' | 'done' | 'failed';
  result?: unknown;
}

/**
 * An application whose reports take longer than a request. `request.queryMesh` ends with its response, on purpose; a job takes a caller of its own. It has to
 * begin while the identity is valid (five minutes), and can go on after that: the broker looks when a query comes in.
 */
export async function createReportApp(options: NNumbersOptions = {}): Promise<FastifyInstance> {
  const app = fastify();
  await app.register(nnumbers, options);
  const reports = new Map<string, Report>();

  app.post('/reports', { onRequest: requirePerson() }, async (request, reply) => {
    const { identity, queryMesh } = await app.nnumbers.authenticate(identityHeaderLines(request.raw));
    assertPerson(identity);
    const id = randomUUID();
    const report: Report = { owner: identity.subject, state: 'running' };
    reports.set(id, report);
    queryMesh('SELECT count(*) AS orders FROM tpch.tiny.orders', { timeoutMs: 30 * 60_000 }).then(
      (result) => Object.assign(report, { state: 'done', result }),
      (error: unknown) =>
        Object.assign(report, {
          state: 'failed',
          result: error instanceof QueryMeshError ? error : undefined,
        }),
    );
    return reply.code(202).header('location', `/reports/${id}`).send({ id });
  });

  app.get<{ Params: { id: string } }>('/reports/:id', async ({ identity, params }, reply) => {
    const report = reports.get(params.id);
    // Somebody else's report is as absent as one that never was.
    if (report === undefined || !isPerson(identity) || report.owner !== identity.subject) {
      return reply.code(404).send({ code: 'NOT_FOUND' });
    }
    return { state: report.state, result: report.result };
  });

  return app;
}
