/** Times ways of doing one thing, interleaved: on a shared machine each way meets the same weather. */

/** A way of doing it. What it returns keeps the work from being optimised away. */
export type Way = () => unknown;

/** Processor time of this process, in milliseconds: what a busy machine changes least. */
export const processorMs = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

/** Milliseconds of each way, the median of its rounds. A way may answer later: it is awaited. */
export async function mediansOf(
  ways: Readonly<Record<string, Way>>,
  rounds: number,
  clock: () => number = () => performance.now(),
): Promise<Map<string, number>> {
  const times = new Map<string, number[]>(Object.keys(ways).map((name) => [name, []]));
  for (let round = -1; round < rounds; round++) {
    for (const [name, way] of Object.entries(ways)) {
      globalThis.gc?.();
      const start = clock();
      await way();
      const milliseconds = clock() - start;
      // The first round warms up.
      if (round >= 0) times.get(name)?.push(milliseconds);
    }
  }
  return new Map([...times].map(([name, all]) => [name, median(all)]));
}

/** The middle of an odd number of values. */
export function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

/** Prints each way with its ratio to the first, and the target where there is one. */
export function report(
  title: string,
  unit: string,
  values: ReadonlyMap<string, number>,
  targets: Readonly<Record<string, number>> = {},
): void {
  const [first = Number.NaN] = values.values();
  console.log(`\n${title}`);
  for (const [name, value] of values) {
    const ratio = value / first;
    const target = targets[name];
    const verdict =
      target === undefined ? '' : `  target ${target}x: ${ratio <= target ? 'reached' : 'MISSED'}`;
    console.log(
      `  ${name.padEnd(44)} ${value.toFixed(1).padStart(9)} ${unit}  ${ratio.toFixed(2).padStart(6)}x${verdict}`,
    );
  }
}
