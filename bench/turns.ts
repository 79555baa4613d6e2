import { readFileSync } from 'node:fs';
import { availableParallelism, cpus, loadavg } from 'node:os';
import { performance } from 'node:perf_hooks';
import { median } from './measure.js';

/** One participant: does `count` operations; `before` runs first, outside the measurement. */
export interface Participant {
  readonly name: string;
  before?(count: number): unknown;
  run(count: number): unknown;
}

/** Medians over the rounds, in nanoseconds per operation. */
export interface Measured {
  readonly name: string;
  /** By the clock on the wall: it counts what other processes took. */
  readonly wallNs: number;
  /** CPU of the whole process, its thread pool included. */
  readonly cpuNs: number;
  /** CPU of the main thread: how long the event loop is kept from other work. */
  readonly loopNs: number;
}

export interface Pace {
  readonly rounds: number;
  /** How long one turn of a participant lasts, in milliseconds. */
  readonly turnMs: number;
}

/** Runs all participants in turns, each round in another order, so that what else the machine does hits all alike. */
export async function measure(participants: readonly Participant[], pace: Pace): Promise<Measured[]> {
  const counts = new Map<Participant, number>();
  for (const participant of participants) counts.set(participant, await calibrate(participant, pace.turnMs));
  const turns = new Map<Participant, { wallNs: number; cpuNs: number; loopNs: number }[]>();
  for (let round = 0; round < pace.rounds; round += 1) {
    const order = participants.map((_, index) => participants[(index * 7 + round) % participants.length]);
    for (const participant of new Set([...order, ...participants])) {
      if (participant === undefined) continue;
      const taken = await turn(participant, counts.get(participant) ?? 1);
      turns.set(participant, [...(turns.get(participant) ?? []), taken]);
    }
  }
  return participants.map((participant) => {
    const taken = turns.get(participant) ?? [];
    const middle = (of: 'wallNs' | 'cpuNs' | 'loopNs'): number => median(taken.map((each) => each[of]));
    return {
      name: participant.name,
      wallNs: middle('wallNs'),
      cpuNs: middle('cpuNs'),
      loopNs: middle('loopNs'),
    };
  });
}

async function calibrate(participant: Participant, turnMs: number): Promise<number> {
  let count = 8;
  for (;;) {
    const { wallNs } = await turn(participant, count);
    const totalMs = (wallNs * count) / 1e6;
    if (totalMs >= turnMs / 4) return Math.max(8, Math.round((count * turnMs) / totalMs));
    count *= 4;
  }
}

async function turn(participant: Participant, count: number): Promise<Omit<Measured, 'name'>> {
  await participant.before?.(count);
  const cpu = process.cpuUsage();
  const loop = mainThreadNs();
  const start = performance.now();
  await participant.run(count);
  const wallNs = (performance.now() - start) * 1e6;
  const loopNs = mainThreadNs() - loop;
  const { user, system } = process.cpuUsage(cpu);
  return { wallNs: wallNs / count, cpuNs: ((user + system) * 1e3) / count, loopNs: loopNs / count };
}

/** CPU time of the main thread so far, from the scheduler's own account (Linux, proc(5)). */
function mainThreadNs(): number {
  return Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'latin1').split(' ', 1)[0]);
}

/** Rows as a Markdown table. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
}

/** What was reached of each target, as a Markdown table. */
export function targetTable(
  targets: readonly (readonly [name: string, reached: number, target: number])[],
): string {
  return table(
    ['target', 'reached', 'to reach', ''],
    targets.map(([name, reached, target]) => [
      name,
      reached.toFixed(2),
      `≥ ${target}`,
      reached >= target ? 'reached' : 'MISSED',
    ]),
  );
}

/** Where and beside how much other work this was measured. */
export function machine(): string {
  const load = loadavg().map((each) => each.toFixed(1));
  return `Node ${process.version}, ${availableParallelism()} × ${cpus()[0]?.model ?? 'unknown'}, load ${load.join(' ')}`;
}
