import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { Test } from 'tap';
import { type WebSocket, WebSocketServer } from 'ws';

/**
 * A scripted engine: it answers with the literal bytes a test gives it. It stands here only because the real engine cannot be
 * had; what it says is the contract's own examples, and damage of them. It shares no code with the client.
 */
export interface Engine {
  readonly url: string;
  /** Every connection so far, in order. */
  readonly peers: Peer[];
  /** The next connection not asked for before. */
  peer(): Promise<Peer>;
  /** The next connection, once it is authenticated as the contract has it. */
  ready(): Promise<Peer>;
}

/** A queue whose reader waits for what is not there yet. */
class Queue<T> {
  readonly #items: T[] = [];
  readonly #readers: ((item: T) => void)[] = [];

  push(item: T): void {
    const reader = this.#readers.shift();
    if (reader === undefined) this.#items.push(item);
    else reader(item);
  }

  next(): Promise<T> {
    if (this.#items.length > 0) return Promise.resolve(this.#items.shift() as T);
    return new Promise((resolve) => this.#readers.push(resolve));
  }
}

/** One connection, from the engine's side. */
export class Peer {
  readonly socket: WebSocket;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly path: string;
  /** Every message received, in order. */
  readonly frames: Buffer[] = [];
  /** The close code received. */
  readonly closed: Promise<number>;
  readonly #queue = new Queue<Buffer>();

  constructor(socket: WebSocket, path: string, headers: Peer['headers']) {
    this.socket = socket;
    this.path = path;
    this.headers = headers;
    socket.on('error', () => {});
    socket.on('message', (data, isBinary) => {
      const bytes = isBinary ? (data as Buffer) : Buffer.from(`text: ${String(data)}`);
      this.frames.push(bytes);
      this.#queue.push(bytes);
    });
    this.closed = new Promise((resolve) => socket.on('close', (code) => resolve(code)));
  }

  /** The operations received, in order. */
  get ops(): number[] {
    return this.frames.map((frame) => frame.readUInt8(0));
  }

  /** The next message of the client. */
  next(): Promise<Buffer> {
    return this.#queue.next();
  }

  /** Sends these very bytes as one binary message. */
  send(bytes: Buffer): void {
    this.socket.send(bytes);
  }

  /** Answers a request of the client. */
  answer(request: Buffer, status: number, body: string | Buffer): void {
    this.send(response(request.subarray(1, 17), status, body));
  }

  /** Takes the authentication and accepts it. */
  async authenticate(): Promise<Buffer> {
    const request = await this.next();
    this.answer(request, 0x00, 'authenticated\n');
    return request;
  }
}

/** `request_id:16 status:u8 payload_len:u32be payload`, written by hand. */
export function response(id: Uint8Array, status: number, body: string | Buffer): Buffer {
  const payload = Buffer.from(body);
  const head = Buffer.alloc(5);
  head.writeUInt8(status, 0);
  head.writeUInt32BE(payload.length, 1);
  return Buffer.concat([id, head, payload]);
}

/** Bytes from hexadecimal with spaces. */
export const hex = (text: string): Buffer => Buffer.from(text.replaceAll(/\s/g, ''), 'hex');

/** The contract's revocation: a zero id, status 01, `auth revoked`. */
export const REVOCATION = hex('00000000000000000000000000000000 01 0000000c 61757468207265766f6b6564');

/** The statuses of a stream, as the development profile has them. */
export const SNAPSHOT = 0xd0;
export const DELTA = 0xd1;
export const END = 0xdf;

/** The text of a request's payload. */
export const payloadOf = (request: Buffer): string => request.subarray(21).toString('utf8');

/** Starts an engine on a free port of 127.0.0.1; it is gone when the test is. */
export async function startEngine(t: Test, { autoPong = true } = {}): Promise<Engine> {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false, autoPong });
  await once(server, 'listening');
  const queue = new Queue<Peer>();
  const peers: Peer[] = [];
  server.on('connection', (socket, request) => {
    const peer = new Peer(socket, request.url ?? '', request.headers);
    peers.push(peer);
    queue.push(peer);
  });
  t.teardown(async () => {
    for (const client of server.clients) client.terminate();
    await new Promise((resolve) => server.close(resolve));
  });
  return {
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    peers,
    peer: () => queue.next(),
    async ready() {
      const peer = await queue.next();
      await peer.authenticate();
      return peer;
    },
  };
}

/** The next socket's subscription, authenticated. */
export async function subscribed(engine: Engine): Promise<{ peer: Peer; request: Buffer }> {
  const peer = await engine.ready();
  return { peer, request: await peer.next() };
}
