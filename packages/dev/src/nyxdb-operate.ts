import {
  endpointSchema,
  type NyxdbEndpoint,
  type NyxdbSession,
  type NyxdbView,
  read,
  sessionSchema,
  viewSchema,
} from './nyxdb-definition.js';
import { exampleTick } from './nyxdb-example.js';
import type { FaultScript, NyxdbFault } from './nyxdb-faults.js';
import type { EngineParts } from './nyxdb-parts.js';
import type { DevPerson } from './people.js';

/** The NYXDB engine of a running platform, from its operator's side. */
export interface Nyxdb {
  /**
   * Publishes an endpoint, or replaces the one of this name; subscriptions that live go on with the former one.
   *
   * @throws TypeError for a definition at fault; Error with the database's reason for SQL at fault
   */
  publish(endpoint: NyxdbEndpoint): Promise<void>;
  /** Drops an endpoint; subscriptions that live go on. False when there was none. */
  drop(name: string): boolean;
  /** Creates a view, or replaces the one of this name, grants included. Throws as `publish`. */
  createView(view: NyxdbView): Promise<void>;
  /** Drops a view. False when there was none. */
  dropView(name: string): boolean;
  /** Adds a row to a provider. With a token that is there already, authentication fails: the lookup finds many. */
  addSession(session: NyxdbSession): void;
  /** Changes the claims of a row; connections that came by it keep what they had. */
  updateSession(session: NyxdbSession): void;
  /** Removes the rows of a token and revokes every connection that came by it. Gives how many rows there were. */
  removeSession(token: string, provider?: string | undefined): number;
  /** Runs SQL statements, all or none; settles when subscribers were sent what changed for them. */
  write(sql: string): Promise<void>;
  /** Makes the next change of the example's `fills`. */
  tick(): Promise<void>;
  /** Ends every subscription with the end frame, those without a snapshot yet too, as for a change of policy. */
  drain(): void;
  /** Sets the fault script; an empty one ends all faults. */
  setFaults(script: readonly NyxdbFault[]): void;
  /** What is held just now, to see that nothing leaks. */
  stats(): { readonly connections: number; readonly subscriptions: number; readonly executions: number };
}

export function operate(
  parts: EngineParts,
  faults: FaultScript,
  // Not the sockets: this file's types are public, and ws brings none of its own along.
  connections: { readonly size: number },
  people: readonly DevPerson[],
): Nyxdb {
  const { catalog, database, providers, streams } = parts;
  let step = 0;
  return {
    async publish(unverifiedEndpoint) {
      const endpoint = read(endpointSchema, unverifiedEndpoint);
      const names = [...endpoint.parameters.map(({ name }) => name), ...endpoint.claims];
      await database.check(endpoint.sql, names);
      catalog.publish(endpoint, providers);
    },
    drop: (name) => catalog.drop(name),
    async createView(unverifiedView) {
      const view = read(viewSchema, unverifiedView);
      await database.check(
        view.sql,
        view.parameters.map(({ name }) => name),
      );
      catalog.createView(view);
    },
    dropView: (name) => catalog.dropView(name),
    addSession: (session) => providers.addRow(read(sessionSchema, session)),
    updateSession: (session) => providers.updateRow(read(sessionSchema, session)),
    removeSession: (token, provider = 'app_sessions') => providers.removeRow(provider, token),
    write: (sql) => streams.write(sql),
    tick: () => streams.write(exampleTick(step++, people)),
    drain: () => streams.end(),
    setFaults: (script) => faults.set(script),
    stats: () => ({
      connections: connections.size,
      subscriptions: parts.subscriptions.total,
      executions: parts.executions.total,
    }),
  };
}
