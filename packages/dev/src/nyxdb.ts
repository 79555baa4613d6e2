import type { Server } from 'node:http';
import type { WebSocket } from 'ws';
import { Admission } from './nyxdb-admission.js';
import { Cancellables } from './nyxdb-cancel.js';
import { Catalog } from './nyxdb-catalog.js';
import { NyxdbDatabase } from './nyxdb-database.js';
import { endpointSchema, read, viewSchema } from './nyxdb-definition.js';
import {
  appSessions,
  claimsOf,
  exampleEndpoints,
  exampleSession,
  exampleTables,
  exampleViews,
} from './nyxdb-example.js';
import { FaultScript } from './nyxdb-faults.js';
import { type Nyxdb, operate } from './nyxdb-operate.js';
import type { ReadNyxdbOptions } from './nyxdb-options.js';
import type { EngineParts } from './nyxdb-parts.js';
import { Providers } from './nyxdb-providers.js';
import { Quota } from './nyxdb-quota.js';
import { createNyxdbServer } from './nyxdb-server.js';
import { Streams } from './nyxdb-streams.js';
import type { DevPerson } from './people.js';
import type { Sessions } from './sessions.js';

/** What of the platform the engine needs. */
export interface NyxdbPlatform {
  readonly people: readonly DevPerson[];
  readonly organizationId: string;
  readonly sessions: Pick<Sessions, 'bySid' | 'onEnd'>;
}

/**
 * Makes the engine; it does not listen yet, and its database starts with the first statement.
 *
 * @throws TypeError for options at fault; Error with the database's reason for SQL at fault
 */
export async function createNyxdb(
  options: ReadNyxdbOptions,
  platform: NyxdbPlatform,
): Promise<{ server: Server; nyxdb: Nyxdb; close(): Promise<void> }> {
  const { limits, tables } = options;
  const database = new NyxdbDatabase(tables ?? exampleTables(platform.people));
  const parts: EngineParts = {
    requireAuth: options.requireAuth,
    maxRows: limits.maxRows,
    providers: createProviders(options, platform),
    catalog: new Catalog(),
    admission: new Admission(limits),
    cancellables: new Cancellables(),
    executions: new Quota(limits.executionsPerUser),
    subscriptions: new Quota(limits.subscriptionsPerUser),
    database,
    streams: new Streams(database, limits.maxRows),
  };
  const faults = new FaultScript();
  const connections = new Set<WebSocket>();
  const nyxdb = operate(parts, faults, connections, platform.people);
  try {
    for (const endpoint of options.endpoints ?? []) await nyxdb.publish(endpoint);
    for (const view of options.views ?? []) await nyxdb.createView(view);
  } catch (error) {
    await database.close();
    throw error;
  }
  // Known to be good: the database need not start for them.
  if (tables === undefined && options.providers === undefined) {
    for (const endpoint of options.endpoints ? [] : exampleEndpoints)
      parts.catalog.publish(read(endpointSchema, endpoint), parts.providers);
    for (const view of options.views ? [] : exampleViews) parts.catalog.createView(read(viewSchema, view));
  }
  const stop = tables === undefined ? keepMoving(nyxdb, parts, options.tickMs) : () => {};
  return {
    server: createNyxdbServer(parts, faults, connections),
    nyxdb,
    async close() {
      stop();
      await database.close();
    },
  };
}

/** The providers of the options; or `app_sessions`, whose rows are the people and the platform's live sessions. */
function createProviders(
  { providers: given, sessions: rows }: ReadNyxdbOptions,
  { people, organizationId, sessions }: NyxdbPlatform,
): Providers {
  const providers = new Providers();
  for (const provider of given ?? []) providers.add(provider);
  if (given === undefined) {
    providers.add(appSessions, (token) => {
      const session = sessions.bySid(token);
      return session === undefined ? undefined : claimsOf(session.person, organizationId);
    });
    for (const person of people) providers.addRow(exampleSession(person, organizationId));
    sessions.onEnd(({ sid }) => providers.revoke(appSessions.name, sid));
  }
  for (const row of rows) providers.addRow(row);
  return providers;
}

/** Changes the example's rows while somebody looks. */
function keepMoving(nyxdb: Nyxdb, { streams }: EngineParts, tickMs: number): () => void {
  if (tickMs === 0) return () => {};
  let moving = false;
  const timer = setInterval(async () => {
    if (moving || !streams.live) return;
    moving = true;
    // A database that stopped starts again with the next subscription.
    await nyxdb.tick().catch(() => undefined);
    moving = false;
  }, tickMs);
  timer.unref();
  return () => clearInterval(timer);
}
