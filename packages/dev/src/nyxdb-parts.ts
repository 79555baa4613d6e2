import type { Admission } from './nyxdb-admission.js';
import type { Cancellables } from './nyxdb-cancel.js';
import type { Catalog } from './nyxdb-catalog.js';
import type { NyxdbDatabase } from './nyxdb-database.js';
import type { Providers } from './nyxdb-providers.js';
import type { Quota } from './nyxdb-quota.js';
import type { Streams } from './nyxdb-streams.js';

/** What every connection of one engine shares. */
export interface EngineParts {
  /** Whether operations need a principal. */
  readonly requireAuth: boolean;
  /** The most rows of one result. */
  readonly maxRows: number;
  readonly providers: Providers;
  readonly catalog: Catalog;
  readonly admission: Admission;
  readonly cancellables: Cancellables;
  /** Calls of one user that wait or run. */
  readonly executions: Quota;
  /** Live subscriptions of one user. */
  readonly subscriptions: Quota;
  readonly database: NyxdbDatabase;
  readonly streams: Streams;
}
