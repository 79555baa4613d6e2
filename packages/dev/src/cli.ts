#!/usr/bin/env node
import { readFile } from 'node:fs/promises';
import { constants } from 'node:os';
import { type Arguments, readArguments, usage } from './arguments.js';
import { type RunningCommand, runCommand } from './command.js';
import { PortInUseError } from './listen.js';
import { logLine, painted } from './log.js';
import { type DevPerson, readPeople } from './people.js';
import { startPlatform } from './platform.js';
import { checkArguments } from './preflight.js';

const portOptions = { edge: '--port', broker: '--broker-port', iam: '--iam-port', nyxdb: '--nyxdb-port' };

/** Says why it cannot start, and ends: 2 for a wrong command line, 1 for anything else (as most tools have it). */
function fail(error: unknown, exitCode: 1 | 2): never {
  const message =
    error instanceof PortInUseError
      ? `port ${error.port} is in use: choose another with ${portOptions[error.part]}`
      : error instanceof Error
        ? error.message
        : String(error);
  process.stderr.write(`nn-dev: ${message}\n`);
  if (exitCode === 2) process.stderr.write('nn-dev --help lists the options\n');
  process.exit(exitCode);
}

async function readPeopleFile(file: string | undefined): Promise<readonly DevPerson[] | undefined> {
  if (file === undefined) return undefined;
  try {
    const unverifiedPeople: unknown = JSON.parse(await readFile(file, 'utf8'));
    return readPeople(unverifiedPeople);
  } catch (error) {
    throw new TypeError(`--people ${file}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Quoted for a POSIX shell: the key set is JSON. */
const exports = (env: Readonly<Record<string, string>>): string =>
  Object.entries(env)
    .map(([name, value]) => `export ${name}='${value.replaceAll("'", `'\\''`)}'`)
    .join('\n');

async function main(options: Arguments): Promise<void> {
  await checkArguments(options);
  const people = await readPeopleFile(options.people);
  const platform = await startPlatform({
    apps: [{ id: 'app_local', url: options.app, port: options.port }],
    ports: { broker: options.brokerPort, nyxdb: options.nyxdbPort, iam: options.iamPort },
    people,
    nyxdb: { tickMs: 1000 },
    onExchange: (exchange) => void process.stdout.write(logLine(exchange, process.stdout)),
  });
  const app = platform.apps.app_local;
  process.stdout.write(`nn-dev: a local nNumbers platform, not for production
  your application  ${app.url}  (relayed to ${options.app})
  sign-in           ${app.url}/.nnumbers/auth/login
  broker            ${platform.brokerUrl}
  NYXDB engine      ${platform.nyxdbUrl}
  IAM               ${platform.iamUrl}
  control page      ${platform.brokerUrl}/dev  (faults, keys, sessions)

`);

  let command: RunningCommand | undefined;
  let ending = false;
  const end = async (exitCode: number, signal?: NodeJS.Signals) => {
    if (ending) return;
    ending = true;
    await command?.stop(signal);
    await platform.close();
    process.exit(exitCode);
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      // The second Ctrl-C does not wait.
      if (ending) void command?.stop('SIGKILL', 0);
      else void end(128 + constants.signals[signal], signal);
    });
  }

  // `nn-dev | head`: nobody reads any more. Left alone, the error would end this process and leave the command behind.
  // 141 is 128 + SIGPIPE, a signal that Windows has no number for.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => void end(141));

  if (options.command.length === 0) {
    process.stdout.write(`Set these for your application:\n${exports({ ...app.env, ...app.localEnv })}\n\n`);
    return;
  }
  const { port } = new URL(options.app);
  command = runCommand(options.command, {
    label: painted('dim', '[app]', process.stdout),
    env: { ...app.env, ...app.localEnv, PORT: port || '80' },
  });
  const exitCode = await command.exitCode;
  if (!ending) process.stdout.write(`nn-dev: the command ended with code ${exitCode}, and nn-dev with it\n`);
  await end(exitCode);
}

let options: Arguments;
try {
  options = readArguments(process.argv.slice(2));
} catch (error) {
  fail(error, 2);
}
if (options.help) process.stdout.write(usage);
else await main(options).catch((error: unknown) => fail(error, 1));
