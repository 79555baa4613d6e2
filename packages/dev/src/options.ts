import { z } from 'zod';
import type { Exchange } from './journal.js';
import { type NyxdbOptions, type ReadNyxdbOptions, readNyxdbOptions } from './nyxdb-options.js';
import { type DevPerson, defaultPeople, readPeople } from './people.js';
import type { DevOrganization } from './state.js';

/** What `startPlatform` takes. */
export interface PlatformOptions<Id extends string = string> {
  /** The applications, each behind an edge of its own; at least one. */
  readonly apps: readonly {
    /** The application's id: `NNUMBERS_APP_ID`, and the audience of its identities. */
    readonly id: Id;
    /**
     * The application's own address: plain `http` on a loopback host, without a path. It need not answer yet. Without
     * it the edge serves the reserved paths alone.
     */
    readonly url?: string | undefined;
    /** The edge's port; default 0, any free one. */
    readonly port?: number | undefined;
  }[];
  /** Ports of the other parts; default 0, any free one. */
  readonly ports?:
    | {
        readonly broker?: number | undefined;
        readonly iam?: number | undefined;
        readonly nyxdb?: number | undefined;
      }
    | undefined;
  /** Who can sign in; default {@link defaultPeople}. */
  readonly people?: readonly DevPerson[] | undefined;
  /** The organization of everybody; default `{ id: 'org_local', slug: 'local' }`. */
  readonly organization?: DevOrganization | undefined;
  /** The NYXDB engine; default the example, with the table `fills` and the endpoint `my_fills`. */
  readonly nyxdb?: NyxdbOptions | undefined;
  /** The platform's clock, in milliseconds since the epoch; default `Date.now`. */
  readonly now?: (() => number) | undefined;
  /** Is told of every exchange of the edges and the broker once it is over, for a log. Ours. */
  readonly onExchange?: ((exchange: Exchange) => void) | undefined;
}

const port = z.int().min(0).max(65_535).default(0);
// The IAM keeps what it knows of a client in plain objects, by its id: `__proto__` would be written into every object.
const id = z
  .string()
  .regex(/^[\x21-\x7e]{1,128}$/)
  .refine((name) => !(name in {}), 'must not be a name that every object has');
const aFunction = <F>() => z.custom<F>((value) => typeof value === 'function', 'must be a function');
// Strict: a mistyped name would be a default nobody asked for.
const optionsSchema = z.strictObject({
  apps: z.array(z.strictObject({ id, url: z.string().optional(), port })).min(1),
  ports: z.strictObject({ broker: port, iam: port, nyxdb: port }).prefault({}),
  // Read by `readPeople` and `readNyxdbOptions`.
  people: z.unknown().optional(),
  nyxdb: z.unknown().optional(),
  organization: z
    .strictObject({ id: z.string().min(1), slug: z.string().min(1) })
    .default({ id: 'org_local', slug: 'local' }),
  now: aFunction<() => number>().default(() => Date.now),
  onExchange: aFunction<(exchange: Exchange) => void>().default(() => () => undefined),
});

/** The options with their defaults. */
export interface ReadOptions<Id extends string> {
  readonly apps: readonly { id: Id; application: URL | undefined; port: number }[];
  readonly ports: { broker: number; iam: number; nyxdb: number };
  readonly people: readonly DevPerson[];
  readonly organization: DevOrganization;
  readonly nyxdb: ReadNyxdbOptions;
  readonly now: () => number;
  readonly onExchange: (exchange: Exchange) => void;
}

/** @throws TypeError that names what is wrong */
export function readOptions<Id extends string>(options: PlatformOptions<Id>): ReadOptions<Id> {
  const read = optionsSchema.safeParse(options);
  if (!read.success) throw new TypeError(`startPlatform: ${z.prettifyError(read.error)}`);
  const { apps, ports, organization, now, onExchange } = read.data;
  if (new Set(apps.map((app) => app.id)).size !== apps.length)
    throw new TypeError('startPlatform: two applications have the same id');
  return {
    apps: options.apps.map(({ id, url }, index) => {
      const edgePort = apps[index]?.port ?? 0;
      return { id, port: edgePort, application: url === undefined ? undefined : readUrl(url, edgePort) };
    }),
    ports,
    organization,
    people: readPeople(options.people ?? defaultPeople),
    nyxdb: readNyxdbOptions(options.nyxdb ?? {}),
    now,
    onExchange,
  };
}

const loopback = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/** The edge forwards identities in the clear: only to this machine. */
function readUrl(unverifiedUrl: string, edgePort: number): URL {
  const url = URL.canParse(unverifiedUrl) ? new URL(unverifiedUrl) : undefined;
  const plain = url?.protocol === 'http:' && loopback.test(url.hostname);
  if (url === undefined || !plain || url.href !== `${url.origin}/`)
    throw new TypeError(`the application's address must be like http://127.0.0.1:3000, not ${unverifiedUrl}`);
  // Each request would come back as one more, until the machine has no socket left.
  if (Number(url.port || 80) === edgePort)
    throw new TypeError(`the application and its edge cannot both have port ${edgePort}`);
  return url;
}
