import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';

/** The package that has the test runners of the page, and nothing else. */
const runners = join(import.meta.dirname, 'runners');
/** The command of vitest. */
export const vitest = join(runners, 'node_modules/vitest/vitest.mjs');
const page = readFileSync(join(import.meta.dirname, '../../docs/testing-your-app.md'), 'utf8');

/** The snippets of the page by the file name in their first line. */
export function snippets(): Map<string, string> {
  const found = new Map<string, string>();
  for (const [, language, code = ''] of page.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)) {
    const name = /^\/\/ ([\w.-]+\.js)\n/.exec(code)?.[1];
    if (language !== 'js' || name === undefined)
      throw new Error('a snippet of the page names no file to run');
    found.set(name, code);
  }
  return found;
}

/** Writes the snippets where the runners' packages are found, as a reader would into a project. */
export function write(t: Test, change: (applicationCode: string) => string = (code) => code): string {
  mkdirSync(join(runners, '.pages'), { recursive: true });
  const folder = mkdtempSync(join(runners, '.pages/page-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  for (const [name, code] of snippets()) {
    const changed = name.endsWith('app.js') ? change(code) : code;
    writeFileSync(join(folder, name), changed);
  }
  return folder;
}

/** Runs Node in a folder, without what the runner of this test put into the environment. */
export function node(cwd: string, ...args: string[]): Promise<{ code: number; output: string }> {
  return new Promise((resolve) => {
    const env = { PATH: process.env.PATH, CI: '1', NO_COLOR: '1' };
    execFile(process.execPath, args, { cwd, env, timeout: 60_000 }, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : 1;
      resolve({ code, output: stdout + stderr });
    });
  });
}

/** Runs files under node:test. */
export const nodeTest = (cwd: string, files: readonly string[]) =>
  node(cwd, '--test', '--test-reporter=tap', ...files);

/** The snippets that run under node:test. */
export const withNodeTest = [
  'node.test.js',
  'supertest.test.js',
  'broker.test.js',
  'time.test.js',
  'keys.test.js',
];
