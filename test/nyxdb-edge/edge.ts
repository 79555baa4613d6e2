import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createRuntime, type RuntimeOptions } from '@nn-runtime/core';
import { createNyxdbEdge, type NyxdbEdge, type NyxdbEdgeOptions } from '@nn-runtime/nyxdb-edge';
import type { Test } from 'tap';
import { WebSocket } from 'ws';
import { type Engine, startEngine } from '../nyxdb/engine.js';
import { ManualClock } from '../nyxdb/time.js';
import { environment, makeKey, NOW_MS, token } from '../tokens.js';

export const ORIGIN = 'https://app.example';
export const signer = makeKey('edge-key');

/** The header of Ana's identity, or of somebody who differs from her in these claims. */
export const identity = (changes: Record<string, unknown> = {}): string => token(signer, changes);

/** One client of an edge: a WebSocket with nothing of the packages in it. */
export class Client {
  readonly socket: WebSocket;
  /** Every message so far. Text is marked as such. */
  readonly messages: Buffer[] = [];
  /** The close code and reason received. */
  readonly closed: Promise<{ code: number; reason: string }>;
  #wake = (): void => {};

  constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on('error', () => {});
    socket.on('message', (data, isBinary) => {
      this.messages.push(isBinary ? (data as Buffer) : Buffer.from(`text: ${String(data)}`));
      this.#wake();
    });
    this.closed = new Promise((resolve) =>
      socket.on('close', (code, reason) => resolve({ code, reason: String(reason) })),
    );
  }

  /** The message with this index, once it is there. */
  async message(index: number): Promise<Buffer> {
    for (;;) {
      const found = this.messages[index];
      if (found !== undefined) return found;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}

/** What an upgrade that was refused was answered. */
export interface Refused {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
}

export interface RunningEdge {
  readonly edge: NyxdbEdge;
  readonly server: Server;
  readonly port: number;
  readonly engine: Engine;
  readonly clock: ManualClock;
  /** Requests the application itself got, as `METHOD /path`. */
  readonly handled: string[];
  /** Opens a relay, as Ana from the allowed page unless the headers say otherwise. */
  connect(headers?: Record<string, string | string[] | undefined>, target?: string): Promise<Client>;
  /** Asks for an upgrade that must be refused. */
  refused(headers?: Record<string, string | string[] | undefined>, target?: string): Promise<Refused>;
}

type Changes = Partial<NyxdbEdgeOptions> & { readonly runtimeOptions?: RuntimeOptions };

const standard = (): Record<string, string | string[] | undefined> => ({
  origin: ORIGIN,
  'x-nnumbers-identity': identity(),
});

/** An edge on a server of its own in front of a scripted engine; by default clients authenticate themselves. */
export async function startEdge(t: Test, { runtimeOptions, ...changes }: Changes = {}): Promise<RunningEdge> {
  const engine = await startEngine(t);
  const clock = new ManualClock();
  const handled: string[] = [];
  const server = createServer((request, response) => {
    handled.push(`${request.method} ${request.url}`);
    response.writeHead(404).end('the application');
  });
  const runtime = createRuntime({ env: environment([signer]), now: () => NOW_MS, ...runtimeOptions });
  const edge = createNyxdbEdge({
    runtime,
    path: '/live',
    upstream: engine.url,
    origins: [ORIGIN],
    engineRequiresAuth: true,
    clock,
    ...changes,
  }).attach(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const sockets = new Set<WebSocket>();
  t.teardown(async () => {
    for (const socket of sockets) socket.terminate();
    void edge.close();
    clock.advance(60_000);
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await runtime.close();
  });

  function open(headers: Record<string, string | string[] | undefined>, target: string): WebSocket {
    const { 'sec-websocket-protocol': offered, ...others } = headers;
    const all = Object.entries({ ...standard(), ...others }).filter(([, value]) => value !== undefined);
    const protocols = offered === undefined ? [] : [offered].flat();
    const socket = new WebSocket(`ws://127.0.0.1:${port}${target}`, protocols, {
      headers: Object.fromEntries(all) as Record<string, string>,
      perMessageDeflate: false,
    });
    sockets.add(socket);
    return socket;
  }

  return {
    edge,
    server,
    port,
    engine,
    clock,
    handled,
    async connect(headers = {}, target = '/live') {
      const socket = open(headers, target);
      const client = new Client(socket);
      await new Promise<void>((resolve, reject) => {
        socket.once('open', resolve);
        socket.once('error', reject);
      });
      return client;
    },
    refused(headers = {}, target = '/live') {
      const socket = open(headers, target);
      return new Promise<Refused>((resolve, reject) => {
        socket.on('error', () => {});
        socket.once('open', () => reject(new Error('the upgrade was not refused')));
        socket.once('unexpected-response', (_request, response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.on('end', () =>
            resolve({
              status: response.statusCode ?? 0,
              headers: response.headers,
              text: Buffer.concat(chunks).toString('utf8'),
            }),
          );
        });
      });
    },
  };
}

const ID = '000102030405060708090a0b0c0d0e0f';

/** `op:u8 request_id:16 payload_len:u32be payload`, written by hand. */
export function request(op: number, payload: string | Buffer = '', id = ID): Buffer {
  const body = Buffer.from(payload);
  const head = Buffer.alloc(21);
  head.writeUInt8(op, 0);
  Buffer.from(id, 'hex').copy(head, 1);
  head.writeUInt32BE(body.length, 17);
  return Buffer.concat([head, body]);
}

/** The contract's own OP_AUTH, and a call. */
export const AUTH = request(0x09, 'app_sessions\0t0k');
export const EXEC = request(0x0b, 'my_fills\0BTC-USD');
