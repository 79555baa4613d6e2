import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import t from 'tap';
import { WebSocket } from 'ws';
import { response, startEngine } from '../nyxdb/engine.js';
import { until } from '../nyxdb/time.js';
import { environment } from '../tokens.js';
import { identity, ORIGIN, request, signer, startEdge } from './edge.js';

const MEGABYTE = 1_048_576;
const FRAME = response(Buffer.alloc(16, 7), 0, Buffer.alloc(65_536, 0x61));

/** Sends a frame again and again for as long as it is taken, at most 100 MiB; gives how many bytes that was. */
async function flood(socket: WebSocket, frame: Buffer): Promise<number> {
  let sentBytes = 0;
  for (let idle = 0; idle < 500 && sentBytes < 100 * MEGABYTE; idle++) {
    if (socket.bufferedAmount < 4 * frame.length) {
      socket.send(frame);
      sentBytes += frame.length;
      idle = 0;
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
  return sentBytes;
}

t.test('a browser that does not read pauses the engine, and is given up (C-73, E14)', async (t) => {
  const { clock, connect, edge, engine } = await startEdge(t);
  const client = await connect();
  const peer = await engine.peer();
  await until(() => edge.status().live === 1);
  client.socket.pause();
  const sentBytes = await flood(peer.socket, FRAME);
  t.ok(sentBytes < 20 * MEGABYTE, `${sentBytes} bytes: what the kernel's buffers take, and 1 MiB`);
  clock.advance(9_999);
  t.equal(edge.status().live, 1);
  clock.advance(1);
  t.equal(edge.status().live, 0);
  t.equal(await peer.closed, 1000);
  client.socket.resume();
  t.same(await client.closed, { code: 4408, reason: 'slow-client' });
});

t.test('and that costs the edge less than 8 MiB (C-73)', async (t) => {
  const engine = await startEngine(t);
  const iat = Math.floor(Date.now() / 1000);
  const script = join(import.meta.dirname, 'fixtures/edge-process.ts');
  const child = spawn(process.execPath, ['--expose-gc', '--import=tsx', script, engine.url, ORIGIN], {
    env: { ...process.env, ...environment([signer]) },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  t.teardown(() => child.kill('SIGKILL'));
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const port = (await lines.next()).value;
  const measure = async () => {
    child.stdin.write('\n');
    const [bytes = 0, live = 0] = String((await lines.next()).value)
      .split(' ')
      .map(Number);
    return { bytes, live };
  };
  const open = async () => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}/live`, {
      headers: { origin: ORIGIN, 'x-nnumbers-identity': identity({ iat, nbf: iat, exp: iat + 300 }) },
      perMessageDeflate: false,
    });
    t.teardown(() => socket.terminate());
    await once(socket, 'open');
    return { socket, peer: await engine.peer() };
  };
  // What is allocated once, for good, is not what this is about: first 100 MiB to somebody who reads.
  const reader = await open();
  let readBytes = 0;
  reader.socket.on('message', (data: Buffer) => {
    readBytes += data.length;
  });
  for (let sentBytes = 0; sentBytes < 100 * MEGABYTE; ) {
    sentBytes += await flood(reader.peer.socket, FRAME);
    await until(() => readBytes === sentBytes);
  }
  const before = await measure();
  const slow = await open();
  slow.socket.pause();
  t.ok((await flood(slow.peer.socket, FRAME)) < 20 * MEGABYTE);
  let after = await measure();
  // What the collector has not given back yet is nobody's.
  for (let look = 0; look < 20 && after.bytes - before.bytes > 4 * MEGABYTE; look++) after = await measure();
  t.equal(after.live, 2);
  const growth = (after.bytes - before.bytes) / MEGABYTE;
  t.ok(growth < 8, `${growth.toFixed(1)} MiB`);
});

t.test('a browser that reads slowly, but reads, gets everything in its order (E14)', async (t) => {
  const { clock, connect, edge, engine } = await startEdge(t);
  const client = await connect();
  const peer = await engine.peer();
  await until(() => edge.status().live === 1);
  const timers = clock.pending;
  client.socket.pause();
  const frames = Array.from({ length: 300 }, (_, index) =>
    response(Buffer.alloc(16, 7), index % 256, Buffer.alloc(65_536, index)),
  );
  for (const frame of frames) peer.send(frame);
  await until(() => clock.pending > timers);
  for (let taken = 0; taken < frames.length; taken = client.messages.length) {
    // Never ten seconds without a frame taken.
    clock.advance(9_000);
    client.socket.resume();
    await client.message(Math.min(taken + 100, frames.length) - 1);
    client.socket.pause();
  }
  t.equal(client.messages.length, 300);
  t.ok(client.messages.every((message, index) => message.equals(frames[index] ?? message)));
  t.equal(edge.status().live, 1);
});

t.test('a large answer to a slow browser is progress piece by piece (E14)', async (t) => {
  const { clock, connect, edge, engine } = await startEdge(t);
  const client = await connect();
  const peer = await engine.peer();
  await until(() => edge.status().live === 1);
  const timers = clock.pending;
  client.socket.pause();
  const frame = response(Buffer.alloc(16, 7), 0, Buffer.alloc(16_777_216, 0x61));
  peer.send(frame);
  await until(() => clock.pending > timers);
  clock.advance(9_999);
  client.socket.resume();
  t.ok((await client.message(0)).equals(frame));
  await until(() => clock.pending === timers);
  clock.advance(9_999);
  t.equal(edge.status().live, 1);
});

t.test('an engine that does not read pauses the browser, and is given up (C-74, E14)', async (t) => {
  const { clock, connect, edge, engine } = await startEdge(t);
  const client = await connect();
  const peer = await engine.peer();
  await until(() => edge.status().live === 1);
  peer.socket.pause();
  const sentBytes = await flood(client.socket, request(0x0b, Buffer.alloc(65_536, 0x61)));
  t.ok(sentBytes < 20 * MEGABYTE, `${sentBytes} bytes`);
  clock.advance(10_000);
  t.same(await client.closed, { code: 4408, reason: 'slow-engine' });
  peer.socket.resume();
  await peer.closed;
});

t.test('one slow reader holds nobody else back (E14)', async (t) => {
  const { connect, edge, engine } = await startEdge(t);
  const slow = await connect();
  const hers = await engine.peer();
  const quick = await connect();
  const his = await engine.peer();
  await until(() => edge.status().live === 2);
  slow.socket.pause();
  for (let index = 0; index < 200; index++) hers.send(FRAME);
  for (let index = 0; index < 50; index++) {
    his.send(FRAME);
    await quick.message(index);
  }
  t.equal(quick.messages.length, 50);
  t.equal(slow.messages.length, 0);
});
