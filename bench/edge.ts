/**
 * The edge in front of NYXDB against a plain ws relay that checks nothing, each in a process of its own; client and engine are here.
 * `pnpm bench edge`. A missed target ends the process with 1.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { createTestIdentities, testPeople } from '@nn-runtime/dev/testing';
import { WebSocket, WebSocketServer } from 'ws';
import { median } from './measure.js';

const ORIGIN = 'https://app.example';
// Many and short: on a shared machine the weather changes within seconds.
const ROUNDS = 31;
const identities = createTestIdentities();

/** `op request_id length payload`: a call of 64 bytes. */
const call = Buffer.alloc(21 + 64, 0x61);
call[0] = 0x0b;
call.writeUInt32BE(64, 17);

/** A relay's process, and what is asked of it. */
interface RelayProcess {
  readonly port: number;
  memoryBytes(): Promise<number>;
  readonly child: ChildProcess;
}

/** Stands for the engine: answers each call at once, and streams for ever to whoever asks for that. */
async function startEngine() {
  const engine = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: false });
  await once(engine, 'listening');
  engine.on('connection', (socket) => {
    socket.on('error', () => {});
    socket.on('message', (data) => {
      const request = data as Buffer;
      const answer = Buffer.concat([request.subarray(1, 17), Buffer.alloc(1), request.subarray(17)]);
      socket.send(answer);
      if (request[0] === 0x0c) stream(socket, answer);
    });
  });
  return { engine, url: `ws://127.0.0.1:${(engine.address() as AddressInfo).port}` };
}

/** As much as is taken, in frames of 64 KiB. */
function stream(socket: WebSocket, { length }: Buffer): void {
  const frame = Buffer.alloc(21 + 65_536, length);
  frame.writeUInt32BE(65_536, 17);
  const timer = setInterval(() => {
    if (socket.bufferedAmount < 1_048_576) socket.send(frame);
  }, 1);
  socket.once('close', () => clearInterval(timer));
}

async function startRelay(kind: 'edge' | 'plain', url: string): Promise<RelayProcess> {
  const script = join(import.meta.dirname, 'edge-process.ts');
  const child = spawn(process.execPath, ['--expose-gc', '--import=tsx', script, kind, url, ORIGIN], {
    env: { ...process.env, ...identities.env },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const port = Number((await lines.next()).value);
  const memoryBytes = async (): Promise<number> => {
    child.stdin.write('\n');
    return Number((await lines.next()).value);
  };
  return { port, memoryBytes, child };
}

async function open({ port }: RelayProcess): Promise<WebSocket> {
  const headers = { origin: ORIGIN, ...(await identities.headers(testPeople.ana)) };
  const socket = new WebSocket(`ws://127.0.0.1:${port}/live`, { headers, perMessageDeflate: false });
  await once(socket, 'open');
  return socket;
}

/** Sends so many calls, so many at once, and gives calls a second. */
async function echoes(socket: WebSocket, count: number, inFlight: number): Promise<number> {
  const startedMs = performance.now();
  await new Promise<void>((resolve) => {
    let sent = 0;
    let answered = 0;
    const send = (): void => {
      if (sent++ < count) socket.send(call);
    };
    const take = (): void => {
      send();
      if (++answered < count) return;
      socket.off('message', take);
      resolve();
    };
    socket.on('message', take);
    for (let index = 0; index < inFlight; index++) send();
  });
  return count / ((performance.now() - startedMs) / 1000);
}

let isMet = true;
function report(what: string, value: string, ratio: number, isGood: boolean, target: string): void {
  if (!isGood) isMet = false;
  console.log(
    `${what.padEnd(52)} ${value}: ${ratio.toFixed(2)}x  target ${target}: ${isGood ? 'met' : 'MISSED'}`,
  );
}

async function roundTrips(edge: RelayProcess, plain: RelayProcess): Promise<void> {
  const ours = await open(edge);
  const theirs = await open(plain);
  for (const inFlight of [1, 64]) {
    const count = inFlight === 1 ? 500 : 2_000;
    const rates = { ours: [] as number[], theirs: [] as number[], ratios: [] as number[] };
    // Interleaved, and the first round warms up: on a shared machine both meet the same weather.
    for (let round = -1; round < ROUNDS; round++) {
      const mine = await echoes(ours, count, inFlight);
      const other = await echoes(theirs, count, inFlight);
      if (round < 0) continue;
      rates.ours.push(mine);
      rates.theirs.push(other);
      rates.ratios.push(mine / other);
    }
    const ratio = median(rates.ratios);
    const value = `${median(rates.ours).toFixed(0)}/s against ${median(rates.theirs).toFixed(0)}/s`;
    report(`echo of 64 B, ${inFlight} in flight`, value, ratio, ratio >= 0.85, '0.85x');
  }
  for (const socket of [ours, theirs]) socket.terminate();
}

/** In processes that did nothing else: what they had used before would be used again, and nothing would be seen. */
async function idleRelays(url: string): Promise<void> {
  const count = 1_000;
  const kilobytes: number[] = [];
  for (const kind of ['edge', 'plain'] as const) {
    const relay = await startRelay(kind, url);
    // Code and caches that the first one costs.
    await echoes(await open(relay), 100, 1);
    const beforeBytes = await relay.memoryBytes();
    const sockets: WebSocket[] = [];
    for (let index = 0; index < count; index += 20)
      sockets.push(...(await Promise.all(Array.from({ length: 20 }, () => open(relay)))));
    // The last one's answer: all of them are connected behind it.
    await Promise.all(sockets.map((socket) => echoes(socket, 1, 1)));
    kilobytes.push(((await relay.memoryBytes()) - beforeBytes) / count / 1024);
    for (const socket of sockets) socket.terminate();
    relay.child.stdin?.end();
  }
  const [ours = 0, theirs = 0] = kilobytes;
  console.log(
    `${`${count} idle relays in one process`.padEnd(52)} ${ours.toFixed(1)} KiB each against ${theirs.toFixed(1)} KiB`,
  );
}

/** The 99th percentile of round trips, in milliseconds, of 99 sockets that each call ten times a second or so. */
async function p99Ms(sockets: readonly WebSocket[]): Promise<number> {
  const times: number[] = [];
  await Promise.all(
    sockets.map(async (socket, index) => {
      for (let trip = 0; trip < 30; trip++) {
        await new Promise((resolve) => setTimeout(resolve, 50 + ((index * 7 + trip * 13) % 50)));
        const startedMs = performance.now();
        await echoes(socket, 1, 1);
        times.push(performance.now() - startedMs);
      }
    }),
  );
  times.sort((a, b) => a - b);
  return times[Math.floor(times.length * 0.99)] ?? Number.NaN;
}

async function slowReader(edge: RelayProcess): Promise<void> {
  const sockets = await Promise.all(Array.from({ length: 99 }, () => open(edge)));
  await p99Ms(sockets);
  const ratios: number[] = [];
  const values: string[] = [];
  for (let round = 0; round < 5; round++) {
    const withoutMs = await p99Ms(sockets);
    const slow = await open(edge);
    const subscribe = Buffer.from(call);
    subscribe[0] = 0x0c;
    slow.send(subscribe);
    slow.pause();
    // Until the buffers of the kernel are full, and the edge holds its engine back.
    await new Promise((resolve) => setTimeout(resolve, 500));
    const withMs = await p99Ms(sockets);
    slow.terminate();
    ratios.push(withMs / withoutMs);
    values.push(`${withMs.toFixed(1)} ms against ${withoutMs.toFixed(1)} ms`);
  }
  const ratio = median(ratios);
  const value = values[ratios.indexOf(ratio)] ?? '';
  report('p99 of 99 beside a slow reader, and without', value, ratio, ratio <= 1.2, '1.2x');
  for (const socket of sockets) socket.terminate();
}

/** Measures everything, one after another. */
export async function run(): Promise<void> {
  const { engine, url } = await startEngine();
  const edge = await startRelay('edge', url);
  const plain = await startRelay('plain', url);
  try {
    await roundTrips(edge, plain);
    await idleRelays(url);
    await slowReader(edge);
  } finally {
    for (const { child } of [edge, plain]) child.stdin?.end();
    for (const socket of engine.clients) socket.terminate();
    engine.close();
  }
  if (!isMet) process.exitCode = 1;
}

if (process.argv[1] === import.meta.filename) await run();
