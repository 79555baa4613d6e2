/** Row objects → the outputs of the caller's schema, or where the first row fails. */

import { QueryMeshRowError } from './errors.js';
import { type QueryResult, type RowObject, withOutputs } from './result.js';
import type { OutputOf, StandardIssue, StandardResult, StandardSchemaV1 } from './standard-schema.js';

/** The type of a row of `objects()`: the schema's output, or plain values by column name without a schema. */
export type RowOf<S extends StandardSchemaV1 | undefined> = S extends StandardSchemaV1
  ? OutputOf<S>
  : RowObject;

/**
 * Gives each row, as one plain object, to a schema, and keeps its outputs for `objects()`. A schema that answers later is awaited.
 *
 * @throws QueryMeshRowError at the first row that does not fit, or on which the schema itself throws: neither the value nor
 * what the schema said is in it.
 * @throws QueryMeshError `VALIDATION_FAILED` when two columns have one name.
 */
export async function validateRows<S extends StandardSchemaV1>(
  result: QueryResult,
  schema: S,
): Promise<QueryResult<OutputOf<S>>> {
  const outputs: OutputOf<S>[] = [];
  for (const [rowIndex, row] of result.objects().entries()) {
    const verdict = verdictOn(row, rowIndex, schema);
    // Only what is a promise is awaited: a turn of the event loop for each of 100,000 rows would cost more than the schema.
    const { issues, value } = verdict instanceof Promise ? await verdict : verdict;
    if (issues !== undefined) throw new QueryMeshRowError(rowIndex, pathsOf(issues, row));
    outputs.push(value);
  }
  return withOutputs(result, outputs);
}

interface Verdict<Output> {
  readonly issues?: readonly StandardIssue[] | undefined;
  readonly value: Output;
}

function verdictOn<S extends StandardSchemaV1>(
  row: RowObject,
  rowIndex: number,
  schema: S,
): Verdict<OutputOf<S>> | Promise<Verdict<OutputOf<S>>> {
  // What a schema throws may quote the row, as its messages do.
  const refuse = (): never => {
    throw new QueryMeshRowError(rowIndex, []);
  };
  try {
    const verdict = schema['~standard'].validate(row) as Answer<OutputOf<S>>;
    return isThenable(verdict) ? Promise.resolve(verdict).then(verdictOf, refuse) : verdictOf(verdict);
  } catch {
    return refuse();
  }
}

type Answer<Output> = StandardResult<Output> | PromiseLike<StandardResult<Output>>;

const isThenable = <T extends object>(value: T | PromiseLike<T>): value is PromiseLike<T> => 'then' in value;

function verdictOf<Output>(result: StandardResult<Output>): Verdict<Output> {
  return result.issues === undefined
    ? { value: result.value }
    : { issues: result.issues, value: undefined as Output };
}

function pathsOf(issues: readonly StandardIssue[], row: RowObject): string[] {
  return [...new Set(issues.map((issue) => pathOf(issue, row)))];
}

// Column names and positions say where. The keys of a map are values of the row, so `*` stands for them.
function pathOf(issue: StandardIssue, row: RowObject): string {
  let at: unknown = row;
  const names = (issue.path ?? []).map((segment) => {
    const key = typeof segment === 'object' ? segment.key : segment;
    const isData = at instanceof Map;
    at = at instanceof Map ? at.get(key) : memberOf(at, key);
    return isData ? '*' : String(key);
  });
  return names.join('.');
}

const memberOf = (value: unknown, key: PropertyKey): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;
