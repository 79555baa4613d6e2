import { QueryMeshError } from './errors.js';
import type { QueryResult } from './result.js';
import type { RowOf } from './rows.js';
import { Sql, sqlText } from './sql.js';
import { isSchema, type StandardSchemaV1 } from './standard-schema.js';
import type { BigintForm } from './value.js';
import { MAX_ROWS } from './wire.js';

/**
 * Sending a query again. Only after a 503 (QUERYMESH_UNAVAILABLE, APPLICATION_IDENTITY_NOT_READY): the broker did not run it, or no connection
 * was made. Never after a time-out or an abort, and never past `timeoutMs`, which is of all attempts together.
 */
export interface RetryOptions {
  /** How often the query is sent, the first time included: 1 to 10. */
  readonly attempts: number;
  /**
   * Longest pause before the next attempt, in milliseconds: 0 to 60,000. The pause is random between nothing and 100 ms, doubled each time up to
   * this ("full jitter"); a Retry-After, in seconds or as a date, is waited for, and when it asks for longer than this the refusal stands.
   */
  readonly maxDelayMs: number;
}

/** What one query may be told. */
export interface QueryOptions<S extends StandardSchemaV1 | undefined = undefined> {
  /** Cap on rows, 1 to 100,000. Past it the query fails, never fewer rows. Default: the broker's, 100,000. */
  readonly maxRows?: number | undefined;
  /** Ends the call when it aborts: QUERYMESH_ABORTED, with `cause: signal.reason`. */
  readonly signal?: AbortSignal | undefined;
  /** How long the call may take, a `row` schema that answers later included, in milliseconds: QUERYMESH_TIMEOUT after that. Default: `timeoutMs` of the runtime, 120,000. */
  readonly timeoutMs?: number | undefined;
  /** A Standard Schema (zod 4, valibot, arktype, …) that every row object must fit; its output is what `objects()` gives. */
  readonly row?: S | undefined;
  /** Whether a query that was refused for the moment is sent again. Default: the runtime's `retry`, which is off by default. */
  readonly retry?: RetryOptions | undefined;
  /** How 64-bit integers come out. Default `auto`: a number where it is exact, a BigInt where not. */
  readonly bigint?: BigintForm | undefined;
}

/**
 * Runs SQL in the organization's QueryMesh on behalf of the person of a request (runtime protocol, "The Broker, from Inside the
 * Cluster"). The SQL is sent as written and reaches no log.
 *
 * @throws SignInRequiredError without a person, or when the person's session ended.
 * @throws QueryMeshError for wrong arguments (VALIDATION_FAILED) and every refusal and failure.
 * @throws QueryMeshRowError when a row does not fit `row`.
 */
export type QueryMesh = <S extends StandardSchemaV1 | undefined = undefined>(
  sql: string | Sql,
  options?: QueryOptions<S>,
) => Promise<QueryResult<RowOf<S>>>;

/** A query whose arguments are right. */
export interface QueryRequest {
  readonly sql: string;
  readonly maxRows: number | undefined;
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
  readonly retry: RetryOptions | undefined;
}

const LARGEST_TIMER_MS = 2_147_483_647;
const OPTION_NAMES: Readonly<Record<keyof QueryOptions, true>> = {
  maxRows: true,
  signal: true,
  timeoutMs: true,
  row: true,
  retry: true,
  bigint: true,
};
const BIGINT_MODES: readonly unknown[] = [undefined, 'auto', 'bigint', 'string', 'number'];

/**
 * Checks the arguments of a query.
 * @throws QueryMeshError VALIDATION_FAILED, naming the argument, never its value.
 */
export function readQuery(
  sql: string | Sql,
  options: QueryOptions<StandardSchemaV1 | undefined>,
  defaults: { readonly timeoutMs: number; readonly retry: RetryOptions | undefined },
): QueryRequest {
  const text = typeof sql === 'string' || Sql.is(sql) ? sqlText(sql) : '';
  if (text.trim() === '') throw invalid('The SQL must be a string that is not blank.');
  if (typeof options !== 'object' || options === null) throw invalid('The options must be an object.');
  const unknownOption = Object.entries(options).some(
    ([name, value]) => value !== undefined && !Object.hasOwn(OPTION_NAMES, name),
  );
  // Not named: it may be anything. `max_rows`, as the wire has it, would be no cap, and parameters are no options.
  if (unknownOption) throw invalid(`The options are ${Object.keys(OPTION_NAMES).join(', ')}, and no other.`);
  const { maxRows, signal, timeoutMs = defaults.timeoutMs, retry = defaults.retry, bigint, row } = options;
  if (maxRows !== undefined && !(Number.isInteger(maxRows) && maxRows >= 1 && maxRows <= MAX_ROWS)) {
    throw invalid(`maxRows must be an integer from 1 to ${MAX_ROWS}.`);
  }
  if (!(Number.isInteger(timeoutMs) && timeoutMs >= 1 && timeoutMs <= LARGEST_TIMER_MS)) {
    throw invalid(`timeoutMs must be an integer from 1 to ${LARGEST_TIMER_MS}.`);
  }
  if (signal !== undefined && !(signal instanceof AbortSignal))
    throw invalid('signal must be an AbortSignal.');
  if (row !== undefined && !isSchema(row)) throw invalid('row must be a Standard Schema.');
  if (!BIGINT_MODES.includes(bigint)) throw invalid('bigint must be "auto", "bigint", "string" or "number".');
  const retryProblem = retry === undefined ? undefined : problemOfRetry(retry);
  if (retryProblem !== undefined) throw invalid(`retry ${retryProblem}.`);
  return { sql: text, maxRows, timeoutMs, signal, retry };
}

function invalid(message: string): QueryMeshError {
  return new QueryMeshError('VALIDATION_FAILED', { message });
}

/** What is wrong with retry options, or undefined. */
export function problemOfRetry(retry: unknown): string | undefined {
  const { attempts, maxDelayMs } = Object(retry) as Partial<Record<keyof RetryOptions, unknown>>;
  if (!(Number.isInteger(attempts) && Number(attempts) >= 1 && Number(attempts) <= 10)) {
    return 'attempts must be an integer from 1 to 10';
  }
  const delayFits = typeof maxDelayMs === 'number' && maxDelayMs >= 0 && maxDelayMs <= 60_000;
  return delayFits ? undefined : 'maxDelayMs must be a number from 0 to 60000';
}
