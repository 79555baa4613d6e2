import { createRuntime, type QueryMesh } from '@nn-runtime/core';
import { type Handler, startScriptedBroker } from './broker.js';
import { environment, makeKey, NOW_MS, token } from './tokens.js';

/** A signed-in person, and a broker that answers each query with the bytes it was told last. */
export interface QueryingPerson {
  readonly queryMesh: QueryMesh;
  /** What the broker answers from now on, with status 200. */
  answer(body: string | Uint8Array): void;
  /** The SQL text of the last query, as the broker got it. */
  lastSql(): string;
  close(): Promise<void>;
}

const key = makeKey('k1');

export async function startQueryingPerson(): Promise<QueryingPerson> {
  const broker = await startScriptedBroker();
  const runtime = createRuntime({ env: environment([key], broker.url), now: () => NOW_MS });
  const { queryMesh } = await runtime.authenticate(token(key));
  const success =
    (body: string | Uint8Array): Handler =>
    (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end(body);
    };
  return {
    queryMesh,
    answer: (body) => broker.onQuery(success(body)),
    lastSql: () => (JSON.parse(broker.requests.at(-1)?.body ?? '') as { sql: string }).sql,
    async close() {
      await runtime.close();
      await broker.close();
    },
  };
}
