import { parseArgs } from 'node:util';

/** Every port the start command uses, by the option that changes it. */
export const defaults = {
  'fastify-port': 8080,
  'express-port': 8081,
  'broker-port': 8090,
  'nyxdb-port': 8091,
  'iam-port': 8092,
  'fastify-app-port': 3000,
  'express-app-port': 3001,
} as const;

export type PortOption = keyof typeof defaults;
export type Ports = Readonly<Record<PortOption, number>>;

export const usage = `Starts the two example applications behind a local nNumbers platform.

  --fastify-port N       the Fastify application, through its edge (default 8080)
  --express-port N       the Express application, through its edge (default 8081)
  --broker-port N        the broker (default 8090)
  --nyxdb-port N         the NYXDB engine (default 8091)
  --iam-port N           the sign-in pages (default 8092)
  --fastify-app-port N   the Fastify application itself (default 3000)
  --express-app-port N   the Express application itself (default 3001)
  --help                 this text
`;

/** The ports of the command line; undefined when help is asked for. */
export function readPorts(argv: readonly string[]): Ports | undefined {
  // `pnpm start -- --broker-port 9000` hands the `--` on.
  const args = argv.filter((arg) => arg !== '--');
  const port = { type: 'string' } as const;
  const { values } = parseArgs({
    args,
    strict: true,
    options: {
      'fastify-port': port,
      'express-port': port,
      'broker-port': port,
      'nyxdb-port': port,
      'iam-port': port,
      'fastify-app-port': port,
      'express-app-port': port,
      help: { type: 'boolean' },
    },
  });
  if (values.help === true) return undefined;
  const read = (option: PortOption): number => {
    const text = values[option];
    if (text === undefined) return defaults[option];
    if (!/^[1-9]\d{0,4}$/.test(text) || Number(text) > 65_535)
      throw new TypeError(`--${option} must be a port from 1 to 65535`);
    return Number(text);
  };
  const ports: Ports = {
    'fastify-port': read('fastify-port'),
    'express-port': read('express-port'),
    'broker-port': read('broker-port'),
    'nyxdb-port': read('nyxdb-port'),
    'iam-port': read('iam-port'),
    'fastify-app-port': read('fastify-app-port'),
    'express-app-port': read('express-app-port'),
  };
  // Nothing is taken yet, so only this names both: later one of them would seem to be busy, or to answer for the other.
  const options = Object.keys(ports) as PortOption[];
  for (const [index, option] of options.entries()) {
    const other = options.slice(0, index).find((earlier) => ports[earlier] === ports[option]);
    if (other !== undefined) throw new TypeError(`--${other} and --${option} are both ${ports[option]}`);
  }
  return ports;
}
