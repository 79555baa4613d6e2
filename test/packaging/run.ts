import { execFile } from 'node:child_process';

/** Runs a program to its end, and gives what it printed. Rejects with all of its output when it fails. */
export function run(folder: string, program: string, args: readonly string[]): Promise<string> {
  // This test runner's own flags (a loader among them) are no part of what an installed package sees.
  const { NODE_OPTIONS: _ours, ...env } = process.env;
  return new Promise((resolve, reject) => {
    execFile(program, args, { cwd: folder, env, maxBuffer: 64 * 1024 * 1024 }, (error, stdout, stderr) => {
      if (error === null) resolve(stdout);
      else reject(new Error(`${program} ${args.join(' ')} in ${folder}\n${stdout}${stderr}`));
    });
  });
}
