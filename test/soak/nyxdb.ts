import { fork } from 'node:child_process';
import { getEventListeners, once, setMaxListeners } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { developmentProfile, EndpointError, type SubscriptionState } from '@nn-runtime/nyxdb';
import { createEndpointClient } from '@nn-runtime/nyxdb/node';
import { seededRandom } from '../random.js';
import { checksumOf } from './checksum.js';

const CLIENTS = 10;
const STREAMS_EACH = 5;
/** One in so many readers is slow. */
const SLOW = 5;
const SEED = Number(process.env.SOAK_SEED ?? 1);
/** Past the warm-up, the heap after a full collection may not grow by more. */
const HEAP_GROWTH = 0.05;

interface Reader {
  readonly key: string;
  version: number;
  generation: number;
  states: number;
  snapshots: number;
}

/** Two minutes of live subscriptions: see docs/performance.md. */
export async function soak(seconds = 120): Promise<readonly string[]> {
  const faults: string[] = [];
  const { integer } = seededRandom(SEED);
  const engine = fork(
    new URL('./engine.ts', import.meta.url),
    [String(SEED), process.env.SOAK_FAULT ?? 'none'],
    {
      execArgv: ['--import=tsx'],
    },
  );
  const ask = async <T>(what: string): Promise<T> => {
    const answer = once(engine, 'message');
    engine.send(what);
    return (await answer)[0] as T;
  };
  const [{ port }] = (await once(engine, 'message')) as [{ readonly port: number }];
  const before = resources();
  const stopping = new AbortController();
  const ending = new AbortController();
  const readers: Reader[] = [];
  setMaxListeners(CLIENTS * STREAMS_EACH, ending.signal);
  const seen = { losses: 0, revocations: 0, slowest: 0 };

  function check(reader: Reader, { kind, rows, generation, stale }: SubscriptionState): void {
    const [[head = '', checksum = ''] = [], ...rest] = rows;
    const version = Number(head.slice(1));
    const where = `${reader.key}, generation ${generation}, version ${version}`;
    reader.states++;
    if (checksumOf(rest) !== checksum) faults.push(`${where}: the rows are not those of this version`);
    if (version < reader.version) faults.push(`${where}: came after version ${reader.version}`);
    if (version === reader.version && kind === 'delta') faults.push(`${where}: came twice`);
    if (generation < reader.generation || stale) faults.push(`${where}: an old state`);
    if (generation !== reader.generation && kind !== 'snapshot')
      faults.push(`${where}: its snapshot was not told`);
    if (kind === 'snapshot') reader.snapshots++;
    reader.version = version;
    reader.generation = generation;
  }

  const clients = Array.from({ length: CLIENTS }, (_, index) => {
    let token = `token-${index}-0`;
    let renewals = 0;
    const client = createEndpointClient({
      url: `ws://127.0.0.1:${port}/`,
      authenticate: () => ({ provider: 'soak', token }),
      profile: developmentProfile,
      onEvent: ({ name }) => {
        if (name === 'subscription-retry') seen.losses++;
        // The application's part: a person whose token was revoked signs in again.
        if (name === 'revoked') token = `token-${index}-${++renewals}`;
      },
    });
    return client;
  });

  async function read(client: (typeof clients)[number], reader: Reader, isSlow: boolean): Promise<void> {
    while (!ending.signal.aborted) {
      reader.generation = 0;
      try {
        for await (const state of client.subscribe('soak', [reader.key], { signal: ending.signal })) {
          check(reader, state);
          if (isSlow && !stopping.signal.aborted) await pause(integer(2_000));
        }
        return;
      } catch (error) {
        const code = error instanceof EndpointError ? error.code : String(error);
        if (code === 'CANCELLED') return;
        if (code !== 'AUTH_REVOKED') faults.push(`${reader.key}: ended in ${code}`);
        seen.revocations++;
      }
    }
  }

  const reading = clients.flatMap((client, index) =>
    Array.from({ length: STREAMS_EACH }, (_, number) => {
      const reader = { key: `${index}-${number}`, version: -1, generation: 0, states: 0, snapshots: 0 };
      const isSlow = readers.push(reader) % SLOW === 0;
      return read(client, reader, isSlow);
    }),
  );

  const heaps: number[] = [];
  const samples = Math.max(8, Math.floor(seconds / 5));
  for (let sample = 0; sample < samples; sample++) {
    await pause((seconds * 1000) / samples);
    globalThis.gc?.();
    heaps.push(process.memoryUsage().heapUsed / 2 ** 20);
  }

  const { versions, counts } = await ask<{
    readonly versions: readonly (readonly [string, number])[];
    readonly counts: Readonly<Record<'connections' | 'frames' | 'deltas' | 'resets' | 'revocations', number>>;
  }>('stop');
  stopping.abort();
  // What was sent last must arrive, also over a connection that was being opened again.
  const final = new Map(versions);
  const behind = () => readers.filter(({ key, version }) => version !== final.get(key));
  for (let tries = 0; tries < 400 && behind().length > 0; tries++) await pause(50);
  for (const { key, version } of behind())
    faults.push(`${key}: is at version ${version}, and the engine at ${final.get(key)}`);
  const listeners = getEventListeners(ending.signal, 'abort').length;
  if (listeners > readers.length) faults.push(`${listeners} listeners on one signal`);
  const busy = clients.reduce((sum, client) => sum + client.info().sockets.busy, 0);
  if (busy > readers.length) faults.push(`${busy} sockets for ${readers.length} subscriptions`);

  ending.abort();
  await Promise.all(reading);
  await Promise.all(clients.map((client) => client.close()));
  // The engine hears of the last ones a moment later.
  let open = 1;
  for (let tries = 0; tries < 100 && (open > 0 || resources() !== before); tries++) {
    await pause(50);
    open = (await ask<{ readonly sockets: number }>('sockets')).sockets;
  }
  if (open > 0) faults.push(`${open} sockets are still open`);
  const left = getEventListeners(ending.signal, 'abort').length;
  if (left > 0) faults.push(`${left} listeners are left on the signal`);
  const after = resources();
  if (after !== before) faults.push(`left behind: ${after} (before: ${before})`);
  engine.send('exit');
  await once(engine, 'exit');

  // Code and caches settle in the first half.
  const settled = heaps.slice(Math.floor(heaps.length / 2));
  const middle = Math.ceil(settled.length / 2);
  const early = Math.min(...settled.slice(0, middle));
  const late = Math.min(...settled.slice(middle));
  // A short run says nothing of the heap.
  if (seconds >= 60 && late > early * (1 + HEAP_GROWTH))
    faults.push(`the heap grew from ${early.toFixed(1)} to ${late.toFixed(1)} MiB`);

  const states = readers.reduce((sum, reader) => sum + reader.states, 0);
  const snapshots = readers.reduce((sum, reader) => sum + reader.snapshots, 0);
  console.log(`${readers.length} subscriptions of ${CLIENTS} clients, ${seconds} s, seed ${SEED}:
  sent       ${counts.deltas} deltas in as many frames (${(counts.deltas / readers.length / seconds).toFixed(1)} a second each), ${counts.connections} connections
  done       ${counts.resets} connections reset, ${counts.revocations} tokens revoked; ${seen.losses} losses and ${seen.revocations} revoked subscriptions seen
  read       ${states} states, each compared row by row with the engine's checksum; ${snapshots} of them snapshots
  heap       ${heaps.map((heap) => heap.toFixed(1)).join(' ')} MiB, each after a full collection`);
  return faults;
}

/** Sockets and timers that this process holds. */
const resources = (): string =>
  process
    .getActiveResourcesInfo()
    .filter((name) => /TCP|Timeout|Immediate/.test(name))
    .sort()
    .join(' ') || 'nothing';
