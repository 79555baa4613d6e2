import { refuse } from './answer.js';
import { createBroker } from './broker.js';
import { createControl } from './control.js';
import { sessionCookie } from './cookies.js';
import { createEdge } from './edge.js';
import { createFaults, type PlatformFaults } from './faults.js';
import { createIam } from './iam.js';
import { signIdentity } from './identity.js';
import { type Listening, listen } from './listen.js';
import { createNyxdb } from './nyxdb.js';
import type { Nyxdb } from './nyxdb-operate.js';
import { type PlatformOptions, readOptions } from './options.js';
import { findPerson } from './people.js';
import { createQueryMesh } from './querymesh.js';
import { createReservedPaths, type ReservedPaths } from './reserved.js';
import { createSignIn, redirectUris } from './signin.js';
import { createState, type PlatformState } from './state.js';
import { visitSignIn } from './visit.js';

/** One application on the platform. */
export interface PlatformApp {
  /** The edge's address: the one people use. */
  readonly url: string;
  /** The NNUMBERS_* variables for the application's process, as the platform sets them in production. */
  readonly env: Readonly<Record<EnvironmentName, string>>;
  /**
   * Variables of the local platform's own, which the platform sets nowhere else: `NYXDB_URL`, the engine's address, and `APP_ORIGINS`,
   * the origins a page of the application may have, separated by a blank. For an application that relays to NYXDB.
   */
  readonly localEnv: Readonly<Record<'NYXDB_URL' | 'APP_ORIGINS', string>>;
}

type EnvironmentName =
  | 'NNUMBERS_IDENTITY_JWKS'
  | 'NNUMBERS_BROKER_URL'
  | 'NNUMBERS_IDENTITY_ISSUER'
  | 'NNUMBERS_APP_ID'
  | 'NNUMBERS_ORG_ID';

/** A running local platform. */
export interface Platform<Id extends string = string> {
  /** The applications by id. */
  readonly apps: Readonly<Record<Id, PlatformApp>>;
  readonly brokerUrl: string;
  readonly iamUrl: string;
  /** The address of the NYXDB engine: `ws://127.0.0.1:` and its port. */
  readonly nyxdbUrl: string;
  /**
   * Signs a person in for real, through the edge and the IAM.
   *
   * @param email the email of one of the people; a user name or a subject for those who have none
   * @param appId the application; the first one when not given
   * @returns `cookie`, a Cookie header value for requests to the edge, and `identity`, a freshly signed
   * `X-NNumbers-Identity` value as the edge puts on this person's requests, for tests that call an application directly
   * @throws RangeError when there is no such person or application
   */
  signIn(email: string, appId?: Id | undefined): Promise<{ cookie: string; identity: string }>;
  /** Makes the platform misbehave. */
  readonly faults: PlatformFaults;
  /** The NYXDB engine, from its operator's side. */
  readonly nyxdb: Nyxdb;
  /** Ends every server and connection, and the SQL engines. Keys, sessions and sign-ons are forgotten. */
  close(): Promise<void>;
}

/**
 * Starts a local platform: an edge for each application, one IAM, one broker, one SQL engine and one NYXDB engine, all on 127.0.0.1,
 * with keys in memory. For development and tests, never for production.
 *
 * @throws TypeError for options at fault, {@link PortInUseError} for a port that is taken, and Error when
 * `NODE_ENV` is `production`; nothing is left running then
 */
export async function startPlatform<const Id extends string>(
  options: PlatformOptions<Id>,
): Promise<Platform<Id>> {
  if (process.env.NODE_ENV === 'production')
    throw new Error('the local platform signs anybody in: it does not start with NODE_ENV=production');
  const { apps, ports, people, organization, nyxdb: nyxdbOptions, now, onExchange } = readOptions(options);
  const closing: (() => Promise<void>)[] = [];
  const close = async () => {
    await Promise.all(closing.splice(0).map((end) => end()));
  };

  try {
    const state = await createState({
      organization,
      people,
      appIds: apps.map((app) => app.id),
      now,
      onExchange,
    });
    const queryMesh = createQueryMesh();
    closing.push(() => queryMesh.close());
    const opened = async (listening: Promise<Listening>) => {
      const server = await listening;
      closing.push(() => server.close());
      return server.port;
    };

    const faults = createFaults(state);
    let brokerPort = 0;
    const control = createControl(state, faults, () => brokerPort);
    brokerPort = await opened(listen(createBroker(state, queryMesh, control), ports.broker, 'broker'));
    const nyxdb = await createNyxdb(nyxdbOptions, {
      people,
      organizationId: organization.id,
      sessions: state.sessions,
    });
    closing.push(() => nyxdb.close());
    const nyxdbPort = await opened(listen(nyxdb.server, ports.nyxdb, 'nyxdb'));
    const iam = createIam();
    const iamUrl = `http://127.0.0.1:${await opened(listen(iam.server, ports.iam, 'iam'))}`;
    const edges: { id: Id; port: number; reservedPaths: ReservedPaths }[] = [];
    for (const { id, application, port: wanted } of apps) {
      const edge = { id, port: 0, reservedPaths: starting };
      const server = createEdge({
        state,
        appId: id,
        application,
        iamUrl,
        port: () => edge.port,
        reservedPaths: () => edge.reservedPaths,
      });
      edge.port = await opened(listen(server, wanted, 'edge', id));
      edges.push(edge);
    }

    // The IAM must know the edges' addresses, and the edges the IAM's: both listen before either is told.
    const clients = edges.map(({ id, port }) => ({ id, redirectUris: redirectUris(port) }));
    await iam.open({ url: iamUrl, people, clients });
    for (const edge of edges) {
      const { id: appId, port } = edge;
      const signIn = await createSignIn({ appId, port, iamUrl, now });
      edge.reservedPaths = createReservedPaths({ state, appId, port, signIn });
    }

    const brokerUrl = `http://127.0.0.1:${brokerPort}`;
    const nyxdbUrl = `ws://127.0.0.1:${nyxdbPort}`;
    return {
      apps: record(
        edges.map(({ id, port }) => [
          id,
          {
            url: `http://127.0.0.1:${port}`,
            env: environment(state, id, brokerUrl),
            localEnv: {
              NYXDB_URL: nyxdbUrl,
              // Both names of this machine work from sign-in to sign-out (design P3).
              APP_ORIGINS: `http://127.0.0.1:${port} http://localhost:${port}`,
            },
          },
        ]),
      ),
      brokerUrl,
      iamUrl,
      nyxdbUrl,
      nyxdb: nyxdb.nyxdb,
      faults,
      close,
      async signIn(email, appId) {
        const edge = edges.find(({ id }) => appId === undefined || id === appId);
        const person = findPerson(people, email);
        if (edge === undefined) throw new RangeError('the platform has no such application');
        if (person === undefined) throw new RangeError('the platform has no such person');
        const jar = await visitSignIn(`http://127.0.0.1:${edge.port}`, person.sub);
        const name = sessionCookie(edge.port);
        const session = state.sessions.byCookie(edge.id, jar.get(name));
        if (session === undefined) throw new Error('the sign-in made no session');
        return { cookie: `${name}=${session.cookie}`, identity: await signIdentity(state, iamUrl, session) };
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

const record = <Id extends string>(entries: [Id, PlatformApp][]): Record<Id, PlatformApp> =>
  Object.fromEntries(entries) as Record<Id, PlatformApp>;

/** What an edge says to somebody who comes while the platform is still starting. */
const starting: ReservedPaths = {
  serve: async (_request, response) => refuse(response, 503, 'STARTING', 'the platform is still starting'),
};

function environment(state: PlatformState, appId: string, brokerUrl: string): PlatformApp['env'] {
  return {
    NNUMBERS_IDENTITY_JWKS: JSON.stringify(state.keys.jwks()),
    NNUMBERS_BROKER_URL: brokerUrl,
    NNUMBERS_IDENTITY_ISSUER: state.issuer,
    NNUMBERS_APP_ID: appId,
    NNUMBERS_ORG_ID: state.organization.id,
  };
}
