import type { AddressInfo } from 'node:net';
import { createServer, type Socket } from 'node:net';

/** A broker that answers byte for byte, and knows its connections: for what `node:http` does not let a server do. */
export interface RawBroker {
  readonly url: string;
  /** Every connection so far, in order. */
  readonly connections: Socket[];
  /** How many are open now. */
  openCount(): number;
  /** Resolves once no connection is open. */
  allClosed(): Promise<void>;
  /** Replaces what answers a request: `connection` counts connections from 0, and `request` those of one connection. */
  onRequest(answer: RawHandler): void;
  close(): Promise<void>;
}

export type RawHandler = (socket: Socket, at: { connection: number; request: number; head: string }) => void;

/** A whole answer with its length. */
export const whole = (body: string | Buffer, headers: readonly string[] = [], status = '200 OK'): Buffer =>
  Buffer.concat([
    Buffer.from(
      [`HTTP/1.1 ${status}`, `Content-Length: ${Buffer.byteLength(body)}`, ...headers, '', ''].join('\r\n'),
    ),
    Buffer.from(body),
  ]);

/** The success body of one row with one integer. */
export const one = (value: number): string =>
  `{"columns":[{"name":"a","type":"integer"}],"rows":[[${value}]]}`;

export async function startRawBroker(
  answer: RawHandler = (socket) => socket.write(whole(one(1))),
  host = '127.0.0.1',
): Promise<RawBroker> {
  const connections: Socket[] = [];
  const open = new Set<Socket>();
  let waiting: (() => void)[] = [];
  let handler = answer;
  const server = createServer((socket) => {
    const connection = connections.push(socket) - 1;
    open.add(socket);
    let received = '';
    let request = 0;
    socket.on('error', () => undefined);
    socket.on('close', () => {
      open.delete(socket);
      if (open.size > 0) return;
      for (const tell of waiting) tell();
      waiting = [];
    });
    socket.on('data', (chunk: Buffer) => {
      received += chunk.toString('latin1');
      const headEnd = received.indexOf('\r\n\r\n') + 4;
      const length = Number(/content-length: (\d+)/i.exec(received)?.[1] ?? 0);
      if (headEnd < 4 || received.length < headEnd + length) return;
      const head = received.slice(0, headEnd);
      received = '';
      handler(socket, { connection, request, head });
      request += 1;
    });
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${(server.address() as AddressInfo).port}`,
    connections,
    openCount: () => open.size,
    allClosed: () => (open.size === 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve))),
    onRequest: (next) => {
      handler = next;
    },
    close: () =>
      new Promise((resolve) => {
        for (const socket of open) socket.destroy();
        server.close(() => resolve());
      }),
  };
}
