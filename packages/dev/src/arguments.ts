import { parseArgs } from 'node:util';

/** What the command line of `nn-dev` says. */
export interface Arguments {
  readonly help: boolean;
  readonly app: string;
  readonly port: number;
  readonly brokerPort: number;
  readonly iamPort: number;
  readonly nyxdbPort: number;
  /** A JSON file with the people. */
  readonly people: string | undefined;
  /** The application's command; empty when it is started elsewhere. */
  readonly command: readonly string[];
}

export const usage = `nn-dev: a local nNumbers platform in front of your application. For development, not for production.

Usage: nn-dev [options] [-- COMMAND ...]

  nn-dev -- node server.js                               start your application, and the platform in front of it
  nn-dev --app http://127.0.0.1:3001 -- python3 app.py   an application in any language, on another port
  nn-dev                                                 the platform alone: prints the variables for you to set

Options:
  --app URL           where your application listens (default http://127.0.0.1:3000)
  --port N            the address people use: the edge (default 8080)
  --broker-port N     the broker: keys and QueryMesh queries; the control page is its /dev (default 8090)
  --nyxdb-port N      the NYXDB engine (default 8091)
  --iam-port N        the sign-in pages (default 8092)
  --people FILE       who can sign in: JSON, [{ "sub", "name"?, "email"?, "preferred_username"?, "email_verified"? }]
  --help, -h          this text

Port 0 is any free one.

Your COMMAND runs with PORT (of --app) and these set: NNUMBERS_IDENTITY_JWKS, NNUMBERS_BROKER_URL,
NNUMBERS_IDENTITY_ISSUER, NNUMBERS_APP_ID, NNUMBERS_ORG_ID. Open the address of --port in a browser, never --app's: only
the platform puts the identity on a request. Sign in at /.nnumbers/auth/login there.

nn-dev ends when COMMAND ends, with its exit code (128 and the signal's number when one ended it, 127 when it could not
be started). Ctrl-C, SIGTERM and SIGHUP go to COMMAND and everything it started; a second one kills them. Otherwise
the exit code is 1 for what kept the platform from starting, and 2 for a wrong command line.

Each request is a line: time, part, method, status, path without its query, who, how long. Colours are for terminals
alone; NO_COLOR=1 turns them off.
`;

/** @throws TypeError that says which option is wrong */
export function readArguments(argv: readonly string[]): Arguments {
  const end = argv.indexOf('--');
  const { values, positionals } = parseArgs({
    args: end < 0 ? [...argv] : argv.slice(0, end),
    strict: true,
    allowPositionals: true,
    options: {
      app: { type: 'string', default: 'http://127.0.0.1:3000' },
      port: { type: 'string', default: '8080' },
      'broker-port': { type: 'string', default: '8090' },
      'nyxdb-port': { type: 'string', default: '8091' },
      'iam-port': { type: 'string', default: '8092' },
      people: { type: 'string' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (positionals.length > 0)
    throw new TypeError(`a command goes after --: nn-dev [options] -- ${positionals.join(' ')}`);
  const command = end < 0 ? [] : argv.slice(end + 1);
  if (end >= 0 && command.length === 0) throw new TypeError('nothing follows --');
  return {
    help: values.help,
    app: values.app,
    port: readPort('--port', values.port),
    brokerPort: readPort('--broker-port', values['broker-port']),
    iamPort: readPort('--iam-port', values['iam-port']),
    nyxdbPort: readPort('--nyxdb-port', values['nyxdb-port']),
    people: values.people,
    command,
  };
}

function readPort(option: string, text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (!(port <= 65_535)) throw new TypeError(`${option} must be a port from 0 to 65535`);
  return port;
}
