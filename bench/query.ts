/** QueryMesh results: time and peak memory of reading 100,000 rows × 8 columns, against `JSON.parse` alone and what others use. */

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { answerBody, type Ids, ROWS, rowsJson } from './answer-body.js';
import { median, mediansOf, report } from './measure.js';
import { timeCalls } from './query-call.js';
import { timeClients } from './query-trino.js';
import { readResult, WAYS } from './query-ways.js';

const OURS = '@nn-runtime/core, decoded by type';
const ROUNDS = 9;
const CALL_ROUNDS = 5;
const PAGE_ROWS = 1000;

/** Runs all of it and prints the figures. */
export async function run(): Promise<void> {
  const load = loadavg()
    .map((value) => value.toFixed(1))
    .join(' ');
  console.log(
    `Node ${process.version}, ${cpus().length} cores, load ${load}; medians of ${ROUNDS} interleaved rounds`,
  );
  for (const ids of ['small', '64-bit'] as const) {
    await time(ids);
    peak(ids);
    await timeClients(ids, ROUNDS);
  }
  await objects();
  await timeCalls(CALL_ROUNDS);
}

async function time(ids: Ids): Promise<void> {
  const body = answerBody(ids);
  const pages = Array.from({ length: ROWS / PAGE_ROWS }, (_, at) => rowsJson(ids, at * PAGE_ROWS, PAGE_ROWS));
  const ways = Object.fromEntries(Object.entries(WAYS).map(([name, way]) => [name, () => way(body)]));
  const all = { ...ways, "trino-client's way, page by page (rounds)": () => gatherPages(pages) };
  report(`${ids} ids, ${(body.length / 1e6).toFixed(1)} MB: time`, 'ms', await mediansOf(all, ROUNDS), {
    [OURS]: ids === 'small' ? 1.25 : 2.5,
  });
}

// What the README of that client does with its pages.
function gatherPages(pages: readonly string[]): unknown[] {
  // biome-ignore lint/performance/noAccumulatingSpread: the way that is measured here is that of its README.
  return pages.reduce<unknown[]>((rows, page) => [...rows, ...(JSON.parse(page) as unknown[])], []);
}

function peak(ids: Ids): void {
  const folder = mkdtempSync(join(tmpdir(), 'nn-bench-'));
  try {
    const file = join(folder, 'answer.json');
    writeFileSync(file, answerBody(ids));
    const script = fileURLToPath(new URL('query-peak.ts', import.meta.url));
    const measure = (way: string): number =>
      median(
        [0, 1, 2].map(() => {
          const output = execFileSync(process.execPath, ['--import', 'tsx', script, way, file], {
            encoding: 'utf8',
          });
          return (JSON.parse(output) as { peak: number }).peak;
        }),
      );
    const peaks = new Map(Object.keys(WAYS).map((way) => [way, measure(way)]));
    report(`${ids} ids: peak memory of a fresh process, median of 3`, 'MiB', peaks, { [OURS]: 1.5 });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function objects(): Promise<void> {
  const result = readResult(answerBody('small'));
  const names = result.columns.map((column) => column.name);
  const assignments = (): object[] =>
    result.rows.map((row) => {
      const object: Record<string, unknown> = {};
      for (let at = 0; at < names.length; at++) object[names[at] ?? ''] = row[at];
      return object;
    });
  const times = await mediansOf(
    { 'a plain assignment loop': assignments, 'objects()': () => result.objects() },
    ROUNDS,
  );
  report('objects of the rows: time', 'ms', times, { 'objects()': 1.2 });
}
