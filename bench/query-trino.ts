/** The npm package trino-client, which speaks to Trino itself: the same rows over the same local server, one page, beside `queryMesh` and a bare `fetch`. */

import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createRuntime } from '@nn-runtime/core';
import { Trino } from 'trino-client';
import { claims, environment, headerOf, makeKey, signParts } from '../test/tokens.js';
import { answerBody, type Ids, ROWS } from './answer-body.js';
import { mediansOf, processorMs, report } from './measure.js';

/** Times all three, interleaved. The server is of this process: what it costs is in each way alike. */
export async function timeClients(ids: Ids, rounds: number): Promise<void> {
  const body = answerBody(ids);
  const server = await serve(body);
  const key = makeKey('k1');
  const identity = signParts(key, JSON.stringify(headerOf(key)), JSON.stringify(claims({}, Date.now())));
  const runtime = createRuntime({ env: environment([key], server.url) });
  try {
    const { queryMesh } = await runtime.authenticate(identity);
    const trino = Trino.create({ server: server.url, extraHeaders: { 'X-Trino-User': 'bench' } });
    const ways = {
      'fetch and JSON.parse (rounds)': async () =>
        JSON.parse(await (await fetch(`${server.url}/v1/querymesh/query`, { method: 'POST' })).text()),
      'trino-client 0.2.9 (rounds)': async () => {
        const rows: unknown[] = [];
        // As its README, but a loop: spreading is timed above.
        for await (const page of await trino.query('SELECT 1'))
          for (const row of page.data ?? []) rows.push(row);
        if (rows.length !== ROWS) throw new Error(`trino-client gives ${rows.length} rows`);
        return rows;
      },
      queryMesh: () => queryMesh('SELECT 1'),
    };
    const targets = ids === 'small' ? { queryMesh: 1.25 } : { queryMesh: 2.5 };
    report(`${ids} ids over a local server: time`, 'ms', await mediansOf(ways, rounds), targets);
    report('the same: processor time', 'ms', await mediansOf(ways, rounds, processorMs), targets);
  } finally {
    await runtime.close();
    await server.close();
  }
}

async function serve(body: Buffer): Promise<{ url: string; close(): Promise<void> }> {
  // Trino calls them `data`; the rest of its page is a few bytes.
  const page = Buffer.from(body.toString().replace(',"rows":', ',"id":"q1","data":'));
  const send = (response: ServerResponse, bytes: string | Buffer): void => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(bytes);
  };
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      if (request.url === '/v1/statement')
        send(response, JSON.stringify({ id: 'q1', nextUri: `${url}/page` }));
      else send(response, request.url === '/page' ? page : body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
