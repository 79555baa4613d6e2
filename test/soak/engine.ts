import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import { seededRandom } from '../random.js';
import { checksumOf } from './checksum.js';

/**
 * An engine in a process of its own, told by its parent what to do: streams whose first row tells their version and the
 * checksum of all other rows, 20 deltas a second each, and, by a seeded chance, connections reset and tokens revoked. It speaks
 * the development profile, written by hand, and shares no code with the client. With a fault it does what a sound client would
 * never see: so that the soak itself can be tested.
 */
const [seedText = '1', fault = 'none'] = process.argv.slice(2);
const { integer } = seededRandom(Number(seedText));
const random = (): number => integer(1_000_000) / 1_000_000;
const ROWS = 100;
const TICK_MS = 50;
/** Of a second: how often one subscription's connection is reset, and one client's token is revoked. */
const RESETS = 1 / 15;
const REVOCATIONS = 1 / 30;

const ZERO = Buffer.alloc(16);
const counts = { connections: 0, frames: 0, deltas: 0, resets: 0, revocations: 0 };

interface Stream {
  rows: string[][];
  version: number;
  subscriber: { readonly socket: WebSocket; readonly id: Buffer } | undefined;
}
const streams = new Map<string, Stream>();
const tokens = new Map<string, Set<WebSocket>>();
const revoked = new Set<string>();
let serial = 0;

function frame(id: Buffer, status: number, body: string): Buffer {
  const payload = Buffer.from(body);
  const head = Buffer.alloc(5);
  head.writeUInt8(status, 0);
  head.writeUInt32BE(payload.length, 1);
  return Buffer.concat([id, head, payload]);
}

const line = (row: readonly string[]): string => row.join('\t');
const newRow = (): string[] => [`row-${serial++}`, random().toString(36).slice(2, 10)];
const headOf = ({ rows, version }: Stream): string[] => [`v${version}`, checksumOf(rows)];

function subscribe(socket: WebSocket, id: Buffer, key: string): void {
  const stream = streams.get(key) ?? {
    rows: Array.from({ length: ROWS }, newRow),
    version: 0,
    subscriber: undefined,
  };
  streams.set(key, stream);
  stream.subscriber = { socket, id };
  socket.on('close', () => {
    if (stream.subscriber?.socket === socket) stream.subscriber = undefined;
  });
  socket.send(frame(id, 0xd0, `key\tvalue\n${[headOf(stream), ...stream.rows].map(line).join('\n')}\n`));
}

/** One delta, and the first row's own, in one frame. A stream changes also while nobody listens. */
function change(stream: Stream): void {
  const { rows } = stream;
  const kind = random();
  const op = kind < 0.6 ? '~' : (kind < 0.8 && rows.length < 2 * ROWS) || rows.length < ROWS / 2 ? '+' : '-';
  const at = Math.floor(random() * (op === '+' ? rows.length + 1 : rows.length));
  const row = newRow();
  if (op === '~') rows[at] = row;
  else if (op === '+') rows.splice(at, 0, row);
  else rows.splice(at, 1);
  stream.version++;
  if (stream.subscriber === undefined) return;
  const { socket, id } = stream.subscriber;
  const delta = op === '-' ? `-\t${at + 1}\n` : `${op}\t${at + 1}\t${line(row)}\n`;
  const head = `~\t0\t${line(headOf(stream))}\n`;
  const isFaulty = stream.version % 31 === 0;
  const body =
    isFaulty && fault === 'lose'
      ? head
      : isFaulty && fault === 'double'
        ? delta + delta + head
        : delta + head;
  if (isFaulty && fault === 'repeat') stream.version--;
  counts.frames++;
  counts.deltas++;
  socket.send(frame(id, 0xd1, body));
}

function revoke(token: string): void {
  counts.revocations++;
  revoked.add(token);
  for (const socket of tokens.get(token) ?? []) {
    socket.send(frame(ZERO, 0x01, 'auth revoked'));
    socket.close();
  }
  tokens.delete(token);
}

function tick(): void {
  for (const stream of streams.values()) {
    change(stream);
    if (stream.subscriber !== undefined && random() < (RESETS * TICK_MS) / 1000) {
      counts.resets++;
      stream.subscriber.socket.terminate();
    }
  }
  for (const token of [...tokens.keys()]) if (random() < (REVOCATIONS * TICK_MS) / 1000) revoke(token);
}

const server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false });
server.on('connection', (socket) => {
  counts.connections++;
  socket.on('error', () => {});
  socket.on('message', (data: Buffer) => {
    const op = data.readUInt8(0);
    const id = data.subarray(1, 17);
    const [first = '', second = ''] = data.toString('utf8', 21).split('\0');
    if (op === 0x0c) return subscribe(socket, id, second);
    const token = second;
    if (first !== 'soak' || revoked.has(token)) return socket.send(frame(id, 0x01, 'auth failed'));
    const sockets = tokens.get(token) ?? new Set();
    tokens.set(token, sockets.add(socket));
    socket.on('close', () => sockets.delete(socket));
    socket.send(frame(id, 0x00, 'authenticated\n'));
  });
});
await once(server, 'listening');
const startedMs = performance.now();
let ticks = 0;
// By the clock: a busy machine delays ticks, and leaves none out.
const timer = setInterval(() => {
  for (; ticks < (performance.now() - startedMs) / TICK_MS; ticks++) tick();
}, TICK_MS);

process.on('message', (asked) => {
  if (asked === 'stop') {
    clearInterval(timer);
    const versions = [...streams].map(([key, { version }]) => [key, version]);
    process.send?.({ versions, counts });
  } else if (asked === 'sockets') process.send?.({ sockets: server.clients.size });
  else process.exit();
});
process.on('disconnect', () => process.exit());
process.send?.({ port: (server.address() as AddressInfo).port });
