import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** Runs a module text in a process of its own, with this environment and a PATH, and gives its exit code and output. */
export async function runModule(
  source: string,
  env: Readonly<Record<string, string>>,
  node = process.execPath,
): Promise<{ code: unknown; out: string }> {
  const child = spawn(node, ['--input-type=module', '--eval', source], {
    cwd: import.meta.dirname,
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let out = '';
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk;
  });
  const [code] = await once(child, 'close');
  return { code, out };
}
