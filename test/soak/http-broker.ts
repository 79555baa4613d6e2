import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Random } from '../random.js';
import { makeKey, type SigningKey } from '../tokens.js';

/** How the question for keys is answered; `garbage` is each of the others in turn. */
type KeysState = 'good' | 'garbage';

export interface PublishedKey {
  readonly key: SigningKey;
  readonly publishedAtMs: number;
}

/** How many rotated keys stay published: with one a second, one is withdrawn after 30 s. */
const KEPT = 30;

/**
 * A broker that can be killed and restarted, rotates its keys, and answers each query with rows that tell whose identity came
 * with it and what was asked, so that the sender can tell its own answer from everybody else's.
 */
export class SoakBroker {
  readonly stable: SigningKey = makeKey('stable');
  /** Newest last. */
  rotating: PublishedKey[] = [];
  keysState: KeysState = 'good';
  keyRequests = 0;
  queries = 0;
  /** Queries whose caller went away before the answer. */
  abandoned = 0;
  /** Numbers whose queries wait, and those that came. */
  readonly #waiting = new Set<number>();
  readonly #held: (() => void)[] = [];
  readonly #random: Random;
  #port = 0;
  #serial = 0;
  readonly #server = createServer((request, response) => {
    if (request.url === '/v1/jwks') {
      this.keyRequests++;
      return this.#keys(response);
    }
    let body = '';
    request.setEncoding('utf8').on('data', (chunk: string) => {
      body += chunk;
    });
    request.on('end', () => this.#query(String(request.headers['x-nnumbers-identity']), body, response));
  });

  constructor(random: Random) {
    this.#random = random;
    this.rotate();
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** Listens, on the same port each time. */
  async start(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(this.#port, '127.0.0.1', resolve));
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  /** Every connection is cut off, answers under way as well. */
  async kill(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#server.closeAllConnections();
    await closed;
  }

  rotate(): void {
    const published = { key: makeKey(`rotating-${this.#serial++}`), publishedAtMs: Date.now() };
    this.rotating = [...this.rotating, published].slice(-KEPT);
  }

  /** The queries of these numbers wait for `release()`. */
  hold(numbers: readonly number[]): void {
    for (const number of numbers) this.#waiting.add(number);
  }

  get heldCount(): number {
    return this.#held.length;
  }

  release(): void {
    this.#waiting.clear();
    for (const answer of this.#held.splice(0)) answer();
  }

  #keys(response: ServerResponse): void {
    if (this.keysState === 'good') {
      const keys = [this.stable, ...this.rotating.map(({ key }) => key)].map(({ jwk }) => jwk);
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ keys }));
      return;
    }
    const garbage: readonly [() => void, ...(() => void)[]] = [
      () => response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><p>no keys'),
      () => response.writeHead(200).end('{"keys":[{"kty":"EC"'),
      () => response.writeHead(200).end('{"keys":[]}'),
      () => response.writeHead(200).end('{"keys":[null,{"kty":"oct","kid":"stable","k":"AAAA"}]}'),
      () => response.writeHead(500).end(),
      () => response.writeHead(302, { location: '/elsewhere' }).end(),
      () => response.destroy(),
      // Never ended: the question has a deadline.
      () => response.writeHead(200).write('{"keys":'),
    ];
    this.#random.of(garbage)();
  }

  #query(identity: string, body: string, response: ServerResponse): void {
    this.queries++;
    const { sql } = JSON.parse(body) as { readonly sql: string };
    const [, number = ''] = /^SELECT (\d+)$/.exec(sql) ?? [];
    const { sub } = JSON.parse(Buffer.from(identity.split('.')[1] ?? '', 'base64url').toString()) as {
      readonly sub: string;
    };
    response.on('close', () => {
      if (!response.writableEnded) this.abandoned++;
    });
    const answer = (): void => {
      if (response.destroyed) return;
      const refusal = refusalOf(Number(number));
      response.writeHead(refusal?.status ?? 200, { 'content-type': 'application/json' });
      response.end(
        JSON.stringify(
          refusal !== undefined
            ? { code: refusal.code, message: 'refused by the soak' }
            : {
                columns: [
                  { name: 'subject', type: 'varchar' },
                  { name: 'number', type: 'bigint' },
                ],
                rows: Array.from({ length: rowsOf(Number(number)) }, () => [sub, Number(number)]),
              },
        ),
      );
    };
    if (this.#waiting.has(Number(number))) this.#held.push(answer);
    else setTimeout(answer, this.#random.integer(40));
  }
}

const REFUSALS = [
  { status: 403, code: 'QUERYMESH_ACCESS_DENIED' },
  { status: 409, code: 'QUERYMESH_NOT_ENABLED' },
  { status: 422, code: 'QUERYMESH_QUERY_FAILED' },
  { status: 502, code: 'QUERYMESH_IDENTITY_REJECTED' },
  { status: 503, code: 'QUERYMESH_UNAVAILABLE' },
] as const;

/** One query in ten is refused, and both ends know which, and how. */
export const refusalOf = (number: number): (typeof REFUSALS)[number] | undefined =>
  number % 10 === 7 ? REFUSALS[Math.floor(number / 10) % REFUSALS.length] : undefined;

export const rowsOf = (number: number): number => (number % 20 === 0 ? 500 : 1 + (number % 3));
