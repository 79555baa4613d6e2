import { type Agent, type IncomingHttpHeaders, type OutgoingHttpHeaders, request } from 'node:http';

export interface PlainResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  json(): unknown;
}

/** One request by `node:http`, which sends the headers it is given and no others: `fetch` adds Sec-Fetch-Mode and Accept of its own. */
export function ask(
  url: string,
  options: { method?: string; headers?: OutgoingHttpHeaders; body?: string | Buffer; agent?: Agent } = {},
): Promise<PlainResponse> {
  return new Promise((resolve, reject) => {
    const outgoing = request(url, {
      method: options.method ?? 'GET',
      headers: options.headers ?? {},
      agent: options.agent ?? false,
    });
    outgoing.on('error', reject);
    outgoing.on('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8');
        const status = response.statusCode ?? 0;
        resolve({ status, headers: response.headers, text, json: () => JSON.parse(text) as unknown });
      });
    });
    outgoing.end(options.body);
  });
}
