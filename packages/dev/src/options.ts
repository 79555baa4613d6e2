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
const optionsSchema = z.object({
  apps: z
    .array(z.object({ id: z.string().regex(/^[\x21-\x7e]{1,128}$/), url: z.string().optional(), port }))
    .min(1),
  ports: z.object({ broker: port, iam: port, nyxdb: port }).prefault({}),
  organization: z
    .object({ id: z.string().min(1), slug: z.string().min(1) })
    .default({ id: 'org_local', slug: 'local' }),
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
  const { apps, ports, organization } = read.data;
  if (new Set(apps.map((app) => app.id)).size !== apps.length)
    throw new TypeError('startPlatform: two applications have the same id');
  return {
    apps: options.apps.map(({ id, url }, index) => ({
      id,
      port: apps[index]?.port ?? 0,
      application: url === undefined ? undefined : readUrl(url),
    })),
    ports,
    organization,
    people: readPeople(options.people ?? defaultPeople),
    nyxdb: readNyxdbOptions(options.nyxdb ?? {}),
    now: options.now ?? Date.now,
    onExchange: options.onExchange ?? (() => undefined),
  };
}

const loopback = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/** The edge forwards identities in the clear: only to this machine. */
function readUrl(unverifiedUrl: string): URL {
  const url = URL.canParse(unverifiedUrl) ? new URL(unverifiedUrl) : undefined;
  const plain = url?.protocol === 'http:' && loopback.test(url.hostname);
  if (url === undefined || !plain || url.href !== `${url.origin}/`)
    throw new TypeError(`the application's address must be like http://127.0.0.1:3000, not ${unverifiedUrl}`);
  return url;
}
