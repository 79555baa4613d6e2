/**
 * NYXDB client: ratios against the least that could do the same work, in one run. `pnpm bench nyxdb`, or `node --import=tsx
 * bench/nyxdb.ts` after a build. A ratio under its target ends the process with 1.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import {
  createRequestIds,
  decodeResponse,
  encodeRequest,
  encodeResponse,
  encodeText,
  parseTsv,
} from '@nn-runtime/nyxdb/frames';
import { createEndpointClient, type Delta } from '@nn-runtime/nyxdb/node';
import { WebSocket } from 'ws';
// Not a public door: the replica is measured alone, since sockets would hide it.
import { createReplica } from '../packages/nyxdb/dist/replica.js';
import { median, processorMs } from './measure.js';
import { startAnswering } from './nyxdb-engine.js';

const ROUNDS = 15;

/**
 * Operations of each in a second, of processor time unless the clock is another: the median of its rounds. Rounds are interleaved, so
 * that a busy machine slows all of them; the first warms up.
 */
async function race(
  contenders: Record<string, () => number | Promise<number>>,
  clock: () => number = processorMs,
): Promise<Record<string, number>> {
  const all = new Map<string, number[]>();
  for (let round = -1; round < ROUNDS; round++)
    for (const [name, run] of Object.entries(contenders)) {
      globalThis.gc?.();
      const startedMs = clock();
      const operations = await run();
      const perSecond = operations / ((clock() - startedMs) / 1000);
      if (round >= 0) all.set(name, [...(all.get(name) ?? []), perSecond]);
    }
  return Object.fromEntries([...all].map(([name, values]) => [name, median(values)]));
}

let isMet = true;
function report(what: string, ours: number, theirs: number, target: number | undefined, unit = '/s'): void {
  const ratio = ours / theirs;
  const verdict =
    target === undefined ? '' : ratio >= target ? `  target ${target}: met` : `  target ${target}: MISSED`;
  if (target !== undefined && ratio < target) isMet = false;
  const show = (value: number): string => `${value.toExponential(2)}${unit}`;
  console.log(`${what.padEnd(46)} ${show(ours)} against ${show(theirs)}: ${ratio.toFixed(2)}x${verdict}`);
}

// What results are left in, so that no loop is optimised away.
let sink = 0;

// The contract's helper, as its page has it.
const utf8 = new TextEncoder();
function randomRequestId(): Uint8Array {
  let requestId: Uint8Array<ArrayBuffer>;
  do {
    requestId = crypto.getRandomValues(new Uint8Array(16));
  } while (requestId.every((byte) => byte === 0));
  return requestId;
}
function contractEncode(op: number, payloadText: string): Uint8Array {
  const payload = utf8.encode(payloadText);
  const requestId = randomRequestId();
  const frame = new Uint8Array(1 + 16 + 4 + payload.length);
  frame[0] = op;
  frame.set(requestId, 1);
  new DataView(frame.buffer).setUint32(17, payload.length, false);
  frame.set(payload, 21);
  return frame;
}

async function encode(): Promise<void> {
  const text = `my_fills\0${'x'.repeat(55)}`;
  const nextId = createRequestIds((bytes) => crypto.getRandomValues(bytes));
  const count = 100_000;
  const { ours = 0, theirs = 0 } = await race({
    ours: () => {
      for (let index = 0; index < count; index++)
        sink += encodeRequest(0x0b, nextId(), encodeText(text)).length;
      return count;
    },
    theirs: () => {
      for (let index = 0; index < count; index++) sink += contractEncode(0x0b, text).length;
      return count;
    },
  });
  report("encode 64 B / the contract's helper", ours, theirs, 4);
}

async function decode(): Promise<void> {
  const message = encodeResponse(new Uint8Array(16).fill(7), 0, new Uint8Array(64));
  const count = 500_000;
  const { ours = 0, theirs = 0 } = await race({
    ours: () => {
      for (let index = 0; index < count; index++) sink += decodeResponse(message, 16_777_216).payload.length;
      return count;
    },
    theirs: () => {
      for (let index = 0; index < count; index++)
        sink += new DataView(message.buffer, message.byteOffset).getUint32(17);
      return count;
    },
  });
  report('decode + validate 64 B / a bare DataView read', ours, theirs, undefined);
}

async function tables(): Promise<void> {
  const cells = Array.from({ length: 8 }, (_, index) => `cell-${index}-${'v'.repeat(index)}`).join('\t');
  const text = `${'abcdefgh'.split('').join('\t')}\n${`${cells}\n`.repeat(50_000)}`;
  /** Splits and looks at nothing: no widths, no limits, no header. */
  const onlySplit = (): number => {
    const rows: string[][] = [];
    let start = 0;
    for (;;) {
      const lineEnd = text.indexOf('\n', start);
      if (lineEnd < 0) return rows.length;
      const row: string[] = [];
      for (;;) {
        const tab = text.indexOf('\t', start);
        if (tab < 0 || tab > lineEnd) break;
        row.push(text.slice(start, tab));
        start = tab + 1;
      }
      row.push(text.slice(start, lineEnd));
      rows.push(row);
      start = lineEnd + 1;
    }
  };
  const limits = { maxRows: 1_000_000, maxColumns: 1_024 };
  const { ours = 0, theirs = 0 } = await race({
    ours: () => {
      sink += parseTsv(text, { finalLf: 'optional' }, limits).rows.length;
      return text.length / 1e6;
    },
    theirs: () => {
      sink += onlySplit();
      return text.length / 1e6;
    },
  });
  report('TSV 50,000 x 8, validated / indexOf that splits', ours, theirs, 0.9, ' MB/s');
}

/** A call through the whole client beside a bare ws echo, each waiting for its answer before the next. */
async function trips(port: number, clock: () => number) {
  const url = `ws://127.0.0.1:${port}`;
  const client = createEndpointClient({ url, authenticate: () => ({ provider: 'p', token: 't' }) });
  const bare = async (path: string): Promise<WebSocket> => {
    const socket = new WebSocket(`${url}/${path}`, { perMessageDeflate: false });
    await once(socket, 'open');
    return socket;
  };
  const echo = await bare('echo');
  const frames = await bare('');
  frames.binaryType = 'arraybuffer';
  const ping = encodeRequest(0x0b, new Uint8Array(16).fill(1), encodeText('my_fills\0BTC-USD'));
  const count = 5_000;
  const exchange = (socket: WebSocket) => async () => {
    for (let index = 0; index < count; index++) {
      const answer = new Promise((resolve) => socket.once('message', resolve));
      socket.send(ping);
      await answer;
    }
    return count;
  };
  const result = await race(
    {
      ours: async () => {
        for (let index = 0; index < count; index++)
          sink += (await client.execute('my_fills', ['BTC-USD'])).rows.length;
        return count;
      },
      echo: exchange(echo),
      // The same frames as ours, and ArrayBuffers as every WebSocket has them: what no client could save.
      frames: exchange(frames),
    },
    clock,
  );
  echo.close();
  frames.close();
  await client.close();
  return result;
}

async function roundTrips(): Promise<void> {
  // An engine is a process of its own: round trips in a second, as whoever waits for them sees it.
  const child = spawn(process.execPath, ['--import=tsx', join(import.meta.dirname, 'nyxdb-engine.ts')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const [line] = await once(child.stdout, 'data');
  const apart = await trips(Number(line), () => performance.now());
  child.stdin.end();
  report('execute / a bare ws echo, round trips', apart.ours ?? 0, apart.echo ?? 0, 0.7);
  // Both ends in this process, by its processor time: what is saved here counts twice, what waiting costs not at all.
  const server = await startAnswering();
  const here = await trips(server.port, processorMs);
  await server.close();
  report('execute / a bare ws echo, processor time', here.ours ?? 0, here.echo ?? 0, undefined);
  report('its frames by ws alone / a bare ws echo, ditto', here.frames ?? 0, here.echo ?? 0, undefined);
}

const ROWS = 10_000;
const columns = (): string[] => ['a', 'b'];
const firstRows = (): string[][] => Array.from({ length: ROWS }, (_, index) => [`${index}`, 'x']);

/** An endless stream of frames of 100 deltas; each row is new, as a decoder makes it. The same for each caller. */
function frames(updates: number, inserts: number): () => Delta[] {
  let seed = 42;
  const random = (): number => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    return seed / 2 ** 32;
  };
  let length = ROWS;
  return () =>
    Array.from({ length: 100 }, () => {
      const kind = random();
      // About as many rows as at first, however long it runs.
      const room = kind < inserts ? ROWS + 500 : ROWS - 500;
      const op = kind < updates ? '~' : length < room ? '+' : '-';
      const index = Math.floor(random() * (op === '+' ? length + 1 : length));
      if (op === '+') length++;
      if (op === '-') length--;
      return { op, index, row: op === '-' ? [] : ['n', 'y'] };
    });
}

/**
 * Both sides live as long as the benchmark, as a subscription does, and pay for making the deltas. An array that was made a moment ago
 * is another thing: what the garbage collector has not moved yet is spliced many times as fast.
 */
async function deltas(): Promise<void> {
  for (const [name, updates, inserts, target] of [
    ['80/10/10 mix', 0.8, 0.9, 1.5],
    ['insert/delete', 0, 0.5, 8],
  ] as const) {
    const replica = createReplica();
    replica.load({ columns: columns(), rows: firstRows() });
    const rows = firstRows();
    const nextOurs = frames(updates, inserts);
    const nextTheirs = frames(updates, inserts);
    const { ours = 0, theirs = 0 } = await race({
      ours: () => {
        for (let count = 0; count < 10_000; count++) replica.apply(nextOurs(), 1_000_000);
        sink += replica.length;
        return 1_000_000;
      },
      theirs: () => {
        for (let count = 0; count < 100; count++)
          for (const { op, index, row } of nextTheirs())
            if (op === '~') rows[index] = row;
            else if (op === '+') rows.splice(index, 0, row);
            else rows.splice(index, 1);
        sink += rows.length;
        return 10_000;
      },
    });
    report(`deltas on 10,000 rows, ${name} / Array.splice`, ours, theirs, target);
  }
}

async function publishing(): Promise<void> {
  const replica = createReplica();
  replica.load({ columns: columns(), rows: firstRows() });
  const count = 1_000;
  const publish = (): (() => unknown[]) => {
    replica.apply([{ op: '~', index: sink++ % ROWS, row: ['n', 'y'] }], 1_000_000);
    return replica.view();
  };
  const { read = 0, unread = 0 } = await race({
    read: () => {
      for (let index = 0; index < count; index++) sink += publish()().length;
      return count;
    },
    unread: () => {
      for (let index = 0; index < count; index++) publish();
      return count;
    },
  });
  console.log(
    `publishing a frame of one update on 10,000 rows: ${(1e6 / unread).toFixed(1)} us, ${(1e6 / read).toFixed(1)} us when its rows are read`,
  );
}

/** Measures everything, one after another. */
export async function run(): Promise<void> {
  for (const measure of [encode, decode, tables, roundTrips, deltas, publishing]) await measure();
  if (sink === 0) throw new Error('nothing was measured');
  if (!isMet) process.exitCode = 1;
}

if (process.argv[1] === import.meta.filename) await run();
