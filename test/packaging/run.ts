import { execFile } from 'node:child_process';

/** Runs a program to its end, and gives what it printed. Rejects with all of its output when it fails. */
export function run(folder: string, program: string, args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(
      // The test runner loads itself into every child by NODE_OPTIONS, however it is started: what is installed must be seen without it.
      'env',
      ['-u', 'NODE_OPTIONS', program, ...args],
      { cwd: folder, maxBuffer: 64 * 1024 * 1024 },
      (error, stdout, stderr) => {
        if (error === null) resolve(stdout);
        else reject(new Error(`${program} ${args.join(' ')} in ${folder}\n${stdout}${stderr}`));
      },
    );
  });
}
