import { fork } from 'node:child_process';
import { once } from 'node:events';
import { cpus, loadavg } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { seededRandom } from '../random.js';
import { KINDS } from './http-answer.js';
import type { ServerStats } from './http-server.js';
import { Target } from './http-target.js';

const FRAMEWORKS = ['Fastify 5', 'Express 5'];
const SEED = Number(process.env.SOAK_SEED ?? 1);
const HEAP_GROWTH = 0.05;
const MINUTES_2 = 120_000;
/** How often the schedule sets a clock ahead: time that passes, to whoever counts it. */
const JUMPS_AHEAD = 2;

/** What happens to a target, by the part of the time that has passed. */
const SCHEDULE: readonly (readonly [at: number, change: (target: Target) => Promise<void>])[] = [
  [0.15, (target) => target.killBroker()],
  [0.2, (target) => target.startBroker()],
  [0.3, (target) => target.setKeys('garbage')],
  [0.4, (target) => target.setKeys('good')],
  [0.5, (target) => target.setClock(MINUTES_2)],
  [0.55, (target) => target.setClock(0)],
  [0.6, (target) => target.setClock(-MINUTES_2)],
  [0.65, (target) => target.setClock(0)],
  [0.7, (target) => target.killBroker()],
  [0.72, (target) => target.startBroker()],
];

/** A minute of mixed requests to both frameworks while everything around them breaks: see docs/performance.md. */
export async function soak(seconds = 60): Promise<readonly string[]> {
  const targets = await Promise.all(
    FRAMEWORKS.map((name, index) => Target.start(name, seededRandom(SEED + index))),
  );
  const faults: string[] = [];
  const memory = await memoryOfPeople();
  if (memory.identities !== 10_000) faults.push(`${memory.identities} identities were kept of 10,000`);
  console.log(
    `mixed requests of 100 connections each, ${seconds} s, seed ${SEED}, Node ${process.version}, ${cpus().length} cores, load ${loadavg()[0]?.toFixed(1)}`,
  );
  try {
    await Promise.all(targets.map((target) => run(target, seconds)));
  } finally {
    await Promise.all(targets.map((target) => target.close()));
  }
  const people = (memory.afterBytes - memory.beforeBytes) / 2 ** 20;
  console.log(
    `10,000 people in a fresh process: ${people.toFixed(1)} MiB more (${((memory.afterBytes - memory.beforeBytes) / 10_000).toFixed(0)} bytes each); load at the end ${loadavg()[0]?.toFixed(1)}`,
  );
  return [...faults, ...targets.flatMap((target) => target.faults)];
}

async function run(target: Target, seconds: number): Promise<void> {
  const idle = await target.stats();
  const loading = target.load();
  const startedMs = performance.now();
  const passed = (): number => (performance.now() - startedMs) / 1000 / seconds;
  const pending = [...SCHEDULE];
  const samples: ServerStats[] = [];
  let rotations = 0;
  while (passed() < 1) {
    await pause(100);
    const now = passed();
    for (; rotations < now * seconds - 1; rotations++) target.broker.rotate();
    while (pending[0] !== undefined && pending[0][0] <= now) await pending.shift()?.[1](target);
    if (samples.length < now * 20 - 1) samples.push(await target.stats());
  }
  const loadedMs = performance.now() - startedMs;
  await target.rest(loading);
  const { warnings } = await target.stats();
  for (const warning of new Set(warnings)) target.report(`the process warned: ${warning}`);
  await compareHandles(target, idle);
  checkHeap(target, samples, seconds);
  const budget = 3 + Math.floor(loadedMs / 10_000) + 3 * JUMPS_AHEAD;
  if (target.broker.keyRequests > budget)
    target.report(
      `the broker was asked ${target.broker.keyRequests} times for its keys, and ${budget} were allowed`,
    );
  const keyRequests = target.broker.keyRequests;
  const again = target.load();
  await target.end();
  await again;
  print(target, { samples, idle, loadedMs, rotations, keyRequests, budget });
}

/** Once its clients are gone, the server holds what it held before they came, and connections to the broker in its pool. */
async function compareHandles(target: Target, idle: ServerStats): Promise<void> {
  const pooled = ({ handles }: ServerStats): string =>
    Object.entries(handles)
      .filter(([name]) => name !== 'TCPSocketWrap' && name !== 'CloseReq')
      .map(([name, count]) => `${count} ${name}`)
      .sort()
      .join(', ');
  await target.killBroker();
  let now = await target.stats();
  for (
    let tries = 0;
    tries < 50 && ((now.handles.TCPSocketWrap ?? 0) > 0 || pooled(now) !== pooled(idle));
    tries++
  ) {
    await pause(100);
    now = await target.stats();
  }
  if ((now.handles.TCPSocketWrap ?? 0) > 0)
    target.report(`${now.handles.TCPSocketWrap} sockets are left open`);
  if (pooled(now) !== pooled(idle)) target.report(`left behind: ${pooled(now)} (before: ${pooled(idle)})`);
  await target.startBroker();
}

function checkHeap(target: Target, samples: readonly ServerStats[], seconds: number): void {
  // Code and caches settle in the first half.
  const settled = samples.slice(Math.floor(samples.length / 2)).map(({ heapBytes }) => heapBytes);
  const middle = Math.ceil(settled.length / 2);
  const early = Math.min(...settled.slice(0, middle));
  const late = Math.min(...settled.slice(middle));
  // A short run says nothing of the heap.
  if (seconds >= 30 && late > early * (1 + HEAP_GROWTH))
    target.report(`the heap grew from ${mib(early)} to ${mib(late)} MiB`);
}

async function memoryOfPeople() {
  const child = fork(new URL('./http-memory.ts', import.meta.url), {
    execArgv: ['--expose-gc', '--import=tsx'],
  });
  const [memory] = await once(child, 'message');
  return memory as {
    readonly identities: number;
    readonly beforeBytes: number;
    readonly afterBytes: number;
  };
}

const mib = (bytes: number): string => (bytes / 2 ** 20).toFixed(1);

function print(
  target: Target,
  seen: {
    readonly samples: readonly ServerStats[];
    readonly idle: ServerStats;
    readonly loadedMs: number;
    readonly rotations: number;
    readonly keyRequests: number;
    readonly budget: number;
  },
): void {
  const { broker, counts } = target;
  const sent = KINDS.reduce((sum, kind) => sum + counts[kind].sent, 0);
  const sockets = seen.samples.map(({ handles }) => handles.TCPSocketWrap ?? 0);
  const identities = seen.samples.map((sample) => sample.identities);
  console.log(`${target.name}
  sent       ${sent} requests (${(sent / (seen.loadedMs / 1000)).toFixed(0)} a second), besides ${target.resets} that their clients gave up
${KINDS.map((kind) => `  ${kind.padEnd(10)} ${counts[kind].sent}: ${counts[kind].persons} answered for their person, ${counts[kind].refused} with 401`).join('\n')}
  5xx        ${[...target.unavailable].map(([what, count]) => `${count} × ${what}`).join(', ') || 'none'}
  broker     ${broker.queries} queries, ${broker.abandoned} given up; ${seen.rotations} keys rotated in; asked ${seen.keyRequests} times for its keys, of ${seen.budget} allowed
  heap       ${seen.samples.map(({ heapBytes }) => mib(heapBytes)).join(' ')} MiB, each after a full collection
  sockets    ${Math.min(...sockets)} to ${Math.max(...sockets)}; ${Math.max(...identities)} identities kept at most
  SIGTERM    gone after ${target.exitMs.toFixed(0)} ms; ${target.turnedAway.refused} new connections were refused, ${target.turnedAway.waiting} reset before they were taken`);
}
