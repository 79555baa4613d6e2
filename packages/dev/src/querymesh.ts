import { createSqlEngine, type SqlEngine, SqlEngineError } from './engine.js';
import type { QueryRequest } from './query.js';
import { type Refusal, refusal } from './refusal.js';

/** The organization's QueryMesh: the local SQL engine, started by the first query. */
export interface QueryMesh {
  /** Runs a query; gives the body of the answer, a refusal, or nothing when the caller went away. */
  run(query: QueryRequest, signal: AbortSignal): Promise<{ body: string } | { refusal: Refusal } | undefined>;
  /** Ends every query and the engine. */
  close(): Promise<void>;
}

export function createQueryMesh(): QueryMesh {
  let engine: Promise<SqlEngine> | undefined;
  let closed = false;

  async function start(): Promise<SqlEngine> {
    if (closed) throw new SqlEngineError('CLOSED', 'the platform was closed');
    engine ??= createSqlEngine();
    // A start that failed is tried again by the next query.
    engine.catch(() => {
      engine = undefined;
    });
    return engine;
  }

  return {
    async run(query, signal) {
      try {
        const { columns, rowsJson } = await (await start()).query(query.sql, {
          maxRows: query.maxRows,
          signal,
        });
        // The rows stay text: parsing them again would round big integers.
        return { body: `{"columns":${JSON.stringify(columns)},"rows":${rowsJson}}` };
      } catch (error) {
        if (!(error instanceof SqlEngineError)) throw error;
        return explain(error, query);
      }
    },
    async close() {
      closed = true;
      const started = await engine?.catch(() => undefined);
      await started?.close();
    },
  };
}

function explain(error: SqlEngineError, query: QueryRequest): { refusal: Refusal } | undefined {
  switch (error.code) {
    case 'QUERY_FAILED':
      return { refusal: refusal('QUERYMESH_QUERY_FAILED', error.message) };
    case 'ROW_CAP':
      return { refusal: refusal('QUERYMESH_QUERY_FAILED', `the result has more than ${query.maxRows} rows`) };
    case 'ABORTED':
      return undefined;
    default:
      return { refusal: refusal('QUERYMESH_UNAVAILABLE') };
  }
}
