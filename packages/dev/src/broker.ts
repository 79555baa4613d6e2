import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { answerJson, refuse } from './answer.js';
import { checkIdentity } from './assertion.js';
import type { Control } from './control.js';
import { disturb, disturbQueryMesh } from './disturb.js';
import { findPerson } from './people.js';
import { readQueryRequest } from './query.js';
import type { QueryMesh } from './querymesh.js';
import { type Refusal, refusal } from './refusal.js';
import type { Session } from './sessions.js';
import type { PlatformState } from './state.js';

/** The broker: the platform's two operations for an application (runtime protocol, "The Broker"). */
export function createBroker(state: PlatformState, queryMesh: QueryMesh, control: Control): Server {
  const server = createServer();
  server.on('request', (request, response) => {
    state.journal.watch(request, response, { part: 'broker', appId: undefined });
    serve(request, response).catch(() => {
      // Never the error's own text: it may quote the SQL.
      if (response.headersSent) response.destroy();
      else refuse(response, 500, 'INTERNAL_ERROR', 'the local broker failed to answer');
    });
  });

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? '/').split('?', 1)[0];
    if (path === '/v1/jwks') return jwks(request, response);
    if (path === '/v1/querymesh/query') return query(request, response);
    if (await control(request, response)) return;
    refuse(response, 404, 'NOT_FOUND', 'the broker has no such path');
  }

  async function jwks(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method !== 'GET') return wrongMethod(response, 'GET');
    if (await disturb(state.faults.broker, response)) return;
    if (await disturb(state.faults.jwks, response)) return;
    if (state.faults.brokerKeys) answerJson(response, 200, state.keys.jwks());
    else send(response, refusal('APPLICATION_IDENTITY_NOT_READY'));
  }

  async function query(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method !== 'POST') return wrongMethod(response, 'POST');
    if (await disturb(state.faults.broker, response)) return;
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    const outcome = await answerQuery(request, response, gone.signal);
    if (outcome === undefined || response.destroyed) return;
    if ('body' in outcome) answerJson(response, 200, outcome.body);
    else send(response, outcome.refusal);
  }

  // The order is design P4: who asks, then what is asked, then whether it may be, then the query itself.
  async function answerQuery(
    request: IncomingMessage,
    response: ServerResponse,
    signal: AbortSignal,
  ): Promise<{ body: string } | { refusal: Refusal } | undefined> {
    const identity = await checkIdentity(state, request);
    if ('refusal' in identity) return identity;
    state.journal.person(request, identity.session.person);
    const read = await readQueryRequest(request);
    if ('refusal' in read) return read;
    const { faults } = state;
    if (!faults.integration) return { refusal: refusal('ORGANIZATION_INTEGRATION_NOT_CONFIGURED') };
    if (!faults.capability) return { refusal: refusal('QUERYMESH_NOT_ENABLED') };
    if (denied(identity.session)) return { refusal: refusal('QUERYMESH_ACCESS_DENIED') };
    const disturbed = await disturbQueryMesh(faults.queryMesh, response);
    return disturbed === undefined ? queryMesh.run(read.query, signal) : { refusal: disturbed };
  }

  function denied({ person }: Session): boolean {
    return state.faults.deny.some((who) => findPerson(state.people, who)?.sub === person.sub);
  }

  return server;
}

function send(response: ServerResponse, { statusCode, code, message }: Refusal): void {
  refuse(response, statusCode, code, message, statusCode === 503 ? { 'retry-after': '1' } : {});
}

function wrongMethod(response: ServerResponse, allow: string): void {
  refuse(response, 405, 'METHOD_NOT_ALLOWED', `only ${allow} is answered here`, { allow });
}
