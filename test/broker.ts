import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * A broker whose answers a test writes byte for byte. It stands where the local platform's broker cannot: for answers a
 * healthy broker never gives.
 */
export interface ScriptedBroker {
  readonly url: string;
  /** Requests so far, in order of arrival. */
  readonly requests: { method: string; path: string; headers: IncomingMessage['headers']; body: string }[];
  /** Replaces what answers `GET /v1/jwks`. */
  onKeys(handler: Handler): void;
  /** Replaces what answers `POST /v1/querymesh/query`. */
  onQuery(handler: Handler): void;
  countOf(path: string): number;
  close(): Promise<void>;
}

export type Handler = (request: IncomingMessage, response: ServerResponse, body: string) => void;

export const answerJson =
  (status: number, body: unknown, headers: Record<string, string> = {}): Handler =>
  (_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
  };

export const answerKeys = (...keys: readonly { jwk: unknown }[]): Handler =>
  answerJson(200, { keys: keys.map((key) => key.jwk) });

/** The success body of the contract's own example. */
export const BRAZIL = {
  columns: [
    { name: 'name', type: 'varchar' },
    { name: 'regionkey', type: 'bigint' },
  ],
  rows: [['BRAZIL', 1]],
};

export async function startScriptedBroker(): Promise<ScriptedBroker> {
  const requests: ScriptedBroker['requests'] = [];
  let keys: Handler = answerKeys();
  let query: Handler = answerJson(200, BRAZIL);
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString('utf8');
      const path = request.url ?? '';
      requests.push({ method: request.method ?? '', path, headers: request.headers, body });
      if (path === '/v1/jwks') keys(request, response, body);
      else if (path === '/v1/querymesh/query') query(request, response, body);
      else response.writeHead(404).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    onKeys: (handler) => {
      keys = handler;
    },
    onQuery: (handler) => {
      query = handler;
    },
    countOf: (path) => requests.filter((request) => request.path === path).length,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
