import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { adapterMutants } from './adapters.js';
import { connectionMutants } from './connections.js';
import { edgeMutants } from './edge.js';
import { keyMutants } from './keys.js';
import type { Mutant } from './mutant.js';
import { nyxdbMutants } from './nyxdb.js';
import { tokenMutants } from './token.js';
import { makeTree, sourceOf, type Tree } from './tree.js';

/**
 * `pnpm test:mutants [FILE]`: takes one check after the other out of a copy of the packages, and shows which test goes red. A check whose text
 * is no longer in the source, and one whose removal no test notices, are errors. The table in docs/ is written anew: with FILE (part of a
 * path), only its rows.
 */

const TEST_LIMIT_MS = 180_000;

interface Outcome {
  readonly mutant: Mutant;
  /** The test that went red, or undefined when none did. */
  readonly red?: string;
}

const only = process.argv[2];
const everyMutant = [
  ...tokenMutants,
  ...keyMutants,
  ...connectionMutants,
  ...adapterMutants,
  ...nyxdbMutants,
  ...edgeMutants,
];
const mutants = everyMutant.filter(({ file }) => only === undefined || file.includes(only));

const missing = mutants.filter(({ file, was }) => sourceOf(file).split(was).length !== 2);
for (const { file, was } of missing) console.error(`not found once in ${file}: ${was}`);
if (missing.length > 0) process.exit(1);

const trees = await Promise.all(Array.from({ length: availableParallelism() }, makeTree));
process.on('exit', () => {
  for (const tree of trees) tree.remove();
});

// The tests must be green without a mutant, or red means nothing.
const all = [...new Set(mutants.flatMap(({ tests }) => tests))];
await inTurn(all, async (tree, test) => {
  const red = await failureOf(tree, test);
  if (red === undefined) return;
  console.error(`red without a mutant: ${test}: ${red}`);
  process.exit(1);
});

const outcomes = new Map<Mutant, Outcome>();
await inTurn(mutants, async (tree, mutant) => {
  const source = sourceOf(mutant.file);
  tree.replace(
    mutant.file,
    source.replace(mutant.was, () => mutant.becomes),
  );
  let red: string | undefined;
  for (const test of mutant.tests) {
    const failure = await failureOf(tree, test);
    if (failure !== undefined) red ??= `${test}: ${failure}`;
    if (red !== undefined) break;
  }
  tree.replace(mutant.file, source);
  outcomes.set(mutant, { mutant, ...(red !== undefined && { red }) });
  console.log(
    `${red === undefined ? 'SURVIVED' : 'red'}  ${mutant.file}: without ${mutant.without}  ${red ?? ''}`,
  );
});

const done = mutants.flatMap((mutant) => outcomes.get(mutant) ?? []);
const survivors = done.filter(({ red }) => red === undefined);
console.log(`${done.length} mutants, ${survivors.length} survived`);
if (survivors.length === 0) {
  const table = join(import.meta.dirname, '../../docs/mutants.md');
  writeFileSync(table, report(readFileSync(table, 'utf8').split('\n')));
}
process.exit(survivors.length === 0 ? 0 : 1);

/** Works through a list with all trees at once. */
async function inTurn<T>(list: readonly T[], work: (tree: Tree, item: T) => Promise<void>): Promise<void> {
  const open = [...list];
  await Promise.all(
    trees.map(async (tree) => {
      for (let item = open.shift(); item !== undefined; item = open.shift()) await work(tree, item);
    }),
  );
}

/** The name of what fails in a test file, or undefined when nothing does. */
async function failureOf(tree: Tree, test: string): Promise<string | undefined> {
  const child = spawn(process.execPath, [join(tree.folder, 'test', `${test}.test.js`)], {
    cwd: tree.folder,
    env: { ...process.env, TAP_BAIL: '1', TAP_TIMEOUT: '120' },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk;
  });
  const limit = setTimeout(() => child.kill('SIGKILL'), TEST_LIMIT_MS);
  const [code, signal] = await once(child, 'close');
  clearTimeout(limit);
  if (code === 0) return undefined;
  const [before = '', after] = output.split(/^ *not ok \d+ - /m, 2);
  if (after === undefined) return signal === 'SIGKILL' ? 'does not end' : 'ends early';
  const [assertion = ''] = after.split(/\n| # /, 1);
  const subtest = [...before.matchAll(/^ *# Subtest: (.*)$/gm)].at(-1)?.[1];
  return subtest === undefined || subtest.includes(test) ? assertion : `${subtest} › ${assertion}`;
}

/** The table: a row of this run where there is one, else the one that was there. */
function report(former: readonly string[]): string {
  const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ').slice(0, 160);
  const rows = everyMutant.flatMap((mutant) => {
    const start = `| ${mutant.file} | ${cell(mutant.without)} | `;
    const red = outcomes.get(mutant)?.red;
    return red === undefined ? former.filter((row) => row.startsWith(start)) : `${start}${cell(red)} |`;
  });
  return [
    '# What each check is worth',
    '',
    'Written by `pnpm test:mutants`: each row takes one check out of a copy of the packages and names the first test that went red.',
    'A check that no test misses, or whose text is no longer in the source, fails the run.',
    '',
    '| file | without | red |',
    '| --- | --- | --- |',
    ...rows,
    '',
  ].join('\n');
}
