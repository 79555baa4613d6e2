import { z } from 'zod';
import {
  endpointSchema,
  type NyxdbEndpoint,
  type NyxdbProvider,
  type NyxdbSession,
  type NyxdbView,
  providerSchema,
  read,
  sessionSchema,
  viewSchema,
} from './nyxdb-definition.js';

/** The limits of the engine. All are ours: the contract gives no numbers. */
export interface NyxdbLimits {
  /** Calls and first snapshots that run at the same time. Default 2. */
  readonly concurrent?: number | undefined;
  /** Those that may wait for that; one more is `server busy: query admission rejected`. Default 8. */
  readonly queued?: number | undefined;
  /** How long one may wait, in milliseconds: then `server busy: query admission timed out`. Default 1,000. */
  readonly admissionMs?: number | undefined;
  /** Calls of one user that wait or run. Default 16. */
  readonly executionsPerUser?: number | undefined;
  /** Live subscriptions of one user. Default 100. */
  readonly subscriptionsPerUser?: number | undefined;
  /** Rows of one result. Default 100,000. */
  readonly maxRows?: number | undefined;
}

/** The NYXDB engine of a local platform. What is left out is the example: the table `fills` and what goes with it. */
export interface NyxdbOptions {
  /** As `--require-auth`: operations need OP_AUTH first. Default true; a real engine must have it. */
  readonly requireAuth?: boolean | undefined;
  /** Default `app_sessions` with `user_id`, `tenant` and `role`, whose rows are the people and their sessions. */
  readonly providers?: readonly NyxdbProvider[] | undefined;
  /** More rows. */
  readonly sessions?: readonly NyxdbSession[] | undefined;
  /** SQL statements that make and fill the tables, instead of the example's. */
  readonly tables?: readonly string[] | undefined;
  /** Instead of the example's. */
  readonly endpoints?: readonly NyxdbEndpoint[] | undefined;
  /** Instead of the example's. */
  readonly views?: readonly NyxdbView[] | undefined;
  readonly limits?: NyxdbLimits | undefined;
  /** How often the example's `fills` change while somebody is subscribed, in milliseconds; 0, the default, is never. */
  readonly tickMs?: number | undefined;
}

const count = z.int().min(1);
const schema = z.strictObject({
  requireAuth: z.boolean().default(true),
  providers: z.array(providerSchema).min(1).optional(),
  sessions: z.array(sessionSchema).default([]),
  tables: z.array(z.string()).optional(),
  endpoints: z.array(endpointSchema).optional(),
  views: z.array(viewSchema).optional(),
  limits: z
    .strictObject({
      concurrent: count.default(2),
      queued: z.int().min(0).default(8),
      admissionMs: z.number().min(0).max(3_600_000).default(1_000),
      executionsPerUser: count.default(16),
      subscriptionsPerUser: count.default(100),
      maxRows: count.max(1_000_000).default(100_000),
    })
    .prefault({}),
  tickMs: z.number().min(0).max(3_600_000).default(0),
});

/** The options with their defaults, where those do not depend on the platform. */
export type ReadNyxdbOptions = z.infer<typeof schema>;

/** @throws TypeError that names what is wrong */
export const readNyxdbOptions = (options: NyxdbOptions): ReadNyxdbOptions => read(schema, options);
