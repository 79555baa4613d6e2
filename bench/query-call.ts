/** A whole call through the local platform's broker and SQL engine: `queryMesh` against a bare `fetch` and `JSON.parse` of the same answer. */

import { createRuntime, sql } from '@nn-runtime/core';
import { startPlatform } from '@nn-runtime/dev';
import { mediansOf, processorMs, report } from './measure.js';

// The columns of the bodies that are read without a broker, made by the engine.
const QUERY = `SELECT 1000000 + i * 7919 AS id, (i * 1.2345678901e0) % 997 AS price, 'it "quotes" 東京 😀' || i AS comment,
  CAST(i AS decimal(18, 2)) AS amount, TIMESTAMP '2020-06-10 15:55:23.383345' AS at, i % 2 = 0 AS open,
  CASE WHEN i % 3 = 0 THEN NULL ELSE 'x' END AS note, DATE '2001-08-22' AS day FROM range(100000) AS r(i)`;

/** Times both, interleaved. */
export async function timeCalls(rounds: number): Promise<void> {
  const platform = await startPlatform({ apps: [{ id: 'bench' }] });
  const runtime = createRuntime({ env: platform.apps.bench.env });
  try {
    const { identity } = await platform.signIn('ana@example.org');
    const { queryMesh } = await runtime.authenticate(identity);
    const bare = async (): Promise<unknown> => {
      const response = await fetch(`${platform.brokerUrl}/v1/querymesh/query`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-nnumbers-identity': identity },
        body: JSON.stringify({ sql: QUERY }),
      });
      if (response.status !== 200) throw new Error(`the broker answers ${response.status}`);
      return JSON.parse(await response.text());
    };
    const ways = { 'fetch and JSON.parse': bare, queryMesh: () => queryMesh(sql.unsafe(QUERY)) };
    const targets = { queryMesh: 1.15 };
    report('a whole call through broker and DuckDB: time', 'ms', await mediansOf(ways, rounds), targets);
    const processor = await mediansOf(ways, rounds, processorMs);
    report('the same: processor time, the broker’s own included', 'ms', processor, targets);
  } finally {
    await runtime.close();
    await platform.close();
  }
}
