import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';

/**
 * `pnpm test:nodes [LINE…] [FOLDER…]`: runs the suite on each supported line of Node, one folder of test/ after the other, and ends
 * with a table. A Node comes from its npm package, by the package manager's cache, so that no `node` but the one in use is ever on the path
 * of this repository.
 */

const LINES = ['20.19.0', '22', '24', '26'];

const root = join(import.meta.dirname, '..', '..');
const [lines, folders] = readArguments(process.argv.slice(2));

interface Outcome {
  readonly version: string;
  readonly folder: string;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly seconds: number;
  /** What went red: a test's name, or that a run ended without a summary. */
  readonly red: readonly string[];
}

const outcomes: Outcome[] = [];
for (const line of lines) {
  const { binary, version } = await findNode(line);
  for (const folder of folders) {
    const outcome = await runFolder(binary, version, folder);
    outcomes.push(outcome);
    console.log(rowOf(outcome));
    for (const name of outcome.red) console.log(`    ${name}`);
  }
}

console.log(
  '\n| Node | folder | passed | failed | skipped | seconds |\n| --- | --- | --- | --- | --- | --- |',
);
for (const outcome of outcomes) console.log(rowOf(outcome));
process.exitCode = outcomes.some(({ failed, red }) => failed > 0 || red.length > 0) ? 1 : 0;

function readArguments(args: readonly string[]): [lines: readonly string[], folders: readonly string[]] {
  const known = readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.ts') && !file.includes('node_modules'))
    .map((file) => dirname(join('test', file)));
  const all = [...new Set(known)].sort();
  const given = args.filter((arg) => arg !== '--');
  const asFolder = (arg: string): string => (arg.startsWith('test') ? arg : join('test', arg));
  const wantedLines = given.filter((arg) => /^\d/.test(arg));
  const wantedFolders = given.filter((arg) => !/^\d/.test(arg)).map(asFolder);
  const unknown = wantedFolders.filter((folder) => !all.includes(folder));
  if (unknown.length > 0) throw new Error(`no tests in ${unknown.join(', ')}: there are ${all.join(', ')}`);
  return [wantedLines.length > 0 ? wantedLines : LINES, wantedFolders.length > 0 ? wantedFolders : all];
}

/** The binary of a line, fetched once and kept by npm. */
async function findNode(line: string): Promise<{ binary: string; version: string }> {
  const name = `node-${process.platform}-${process.arch}`;
  // Elsewhere than in the repository: where npx finds the package installed, it puts no `node` on the path.
  const ask = ['-y', `--package=${name}@${line}`, '--', 'node', '-p', 'process.execPath'];
  const binary = (await output('npx', ask, process.env, tmpdir())).trim();
  const version = (await output(binary, ['--version'])).trim();
  if (!`${version}.`.startsWith(`v${line}.`)) throw new Error(`asked for Node ${line}, and found ${version}`);
  return { binary, version };
}

async function runFolder(binary: string, version: string, folder: string): Promise<Outcome> {
  const startedMs = Date.now();
  const files = readdirSync(join(root, folder)).filter((file) => file.endsWith('.test.ts'));
  const tap = join(root, 'node_modules', 'tap', 'dist', 'esm', 'run.mjs');
  const text = await output(
    binary,
    [tap, '--reporter=tap', ...files.map((file) => join(folder, file))],
    // Tests that start `node` by name start this one.
    { ...process.env, PATH: [dirname(binary), process.env.PATH].join(delimiter) },
  ).catch((error: Error) => error.message);
  const summary = /^# \{ (.*) \}$/m.exec(text)?.[1] ?? '';
  const count = (what: string): number => Number(new RegExp(`\\b${what}: (\\d+)`).exec(summary)?.[1] ?? 0);
  const red = [...text.matchAll(/^ *not ok \d+ - (.*?)(?: # time=.*)?$/gm)]
    .map(([, name = '']) => name)
    .filter((name) => !/# (SKIP|TODO)/.test(name));
  if (summary === '') red.push(`no summary:\n${text.slice(-2000)}`);
  return {
    version,
    folder,
    passed: count('pass'),
    failed: count('fail'),
    skipped: count('skip'),
    seconds: Math.round((Date.now() - startedMs) / 1000),
    red,
  };
}

/** What a program prints; rejects with it when the program fails. */
async function output(
  program: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
  cwd: string = root,
): Promise<string> {
  const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    text += part;
  });
  const [code] = await once(child, 'close');
  if (code === 0) return text;
  throw new Error(text === '' ? `${program} ended with ${code}` : text);
}

function rowOf({ version, folder, passed, failed, skipped, seconds }: Outcome): string {
  return `| ${[version, folder, passed, failed, skipped, seconds].join(' | ')} |`;
}
