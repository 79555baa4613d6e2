import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:os';
import { createInterface } from 'node:readline';

/** A command that runs beside the platform. */
export interface RunningCommand {
  /**
   * Its exit code once it has ended; 128 and the signal's number when a signal ended it, 127 when it could not be
   * started (the codes of a POSIX shell). Never rejects.
   */
  readonly exitCode: Promise<number>;
  /**
   * Asks the command and everything it started to end (`signal`, default SIGTERM); what is still there after
   * `graceMs` (default 5,000) is killed. Resolves when the command has ended.
   */
  stop(signal?: NodeJS.Signals | undefined, graceMs?: number | undefined): Promise<void>;
}

/** How a command runs. */
export interface CommandOptions {
  /** Set besides this process's own environment. */
  readonly env: Readonly<Record<string, string>>;
  /** Stands before each line of its output. */
  readonly label: string;
}

/** Starts a command, and passes its output on line by line with a label. */
export function runCommand(command: readonly string[], { env, label }: CommandOptions): RunningCommand {
  const [program = '', ...args] = command;
  const posix = process.platform !== 'win32';
  const child = spawn(program, args, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    // A process group of its own, so that what a package manager starts in turn ends too.
    detached: posix,
  });
  relayLines(child.stdout, process.stdout, label);
  relayLines(child.stderr, process.stderr, label);
  const exitCode = new Promise<number>((resolve) => {
    child.once('error', (error) => {
      process.stderr.write(`${label} cannot start ${program}: ${error.message}\n`);
      resolve(127);
    });
    child.once('exit', (code, signal) => {
      const ended = () => resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal]));
      // The last lines come until 'close'; but a process it left behind may hold the pipe open for ever.
      child.once('close', ended);
      setTimeout(ended, 500).unref();
    });
  });
  return {
    exitCode,
    async stop(signal = 'SIGTERM', graceMs = 5000) {
      kill(child, signal, posix);
      const timer = setTimeout(() => kill(child, 'SIGKILL', posix), graceMs);
      await exitCode;
      clearTimeout(timer);
    },
  };
}

function kill(child: ChildProcess, signal: NodeJS.Signals, posix: boolean): void {
  if (child.pid === undefined) return;
  try {
    // The group may outlive its first process, so it is signalled also when that one has ended.
    if (posix) process.kill(-child.pid, signal);
    else child.kill(signal);
  } catch {
    // ESRCH: nothing is left of it.
  }
}

function relayLines(from: NodeJS.ReadableStream | null, to: NodeJS.WritableStream, label: string): void {
  if (from === null) return;
  createInterface({ input: from, crlfDelay: Number.POSITIVE_INFINITY }).on('line', (line) => {
    to.write(`${label} ${line}\n`);
  });
}
