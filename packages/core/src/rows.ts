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
 * @param signal ends it between two rows; whoever aborts knows why.
 * @throws QueryMeshRowError at the first row that does not fit, or on which the schema itself throws: neither the value nor
 * what the schema said is in it.
 * @throws QueryMeshError `VALIDATION_FAILED` when two columns have one name.
 */
export async function validateRows<S extends StandardSchemaV1>(
  result: QueryResult,
  schema: S,
  signal: AbortSignal,
): Promise<QueryResult<OutputOf<S>>> {
  const outputs: OutputOf<S>[] = [];
  for (const [rowIndex, row] of result.objects().entries()) {
    const verdict = verdictOn(row, schema);
    // Only what is a promise is awaited: a turn of the event loop for each of 100,000 rows would cost more than the schema.
    const { failures, value } = verdict instanceof Promise ? await verdict : verdict;
    signal.throwIfAborted();
    if (failures !== undefined) throw new QueryMeshRowError(rowIndex, failures);
    outputs.push(value);
  }
  return withOutputs(result, outputs);
}

interface Verdict<Output> {
  /** The paths that failed, if the row does not fit. */
  readonly failures?: readonly string[] | undefined;
  readonly value: Output;
}

function verdictOn<S extends StandardSchemaV1>(
  row: RowObject,
  schema: S,
): Verdict<OutputOf<S>> | Promise<Verdict<OutputOf<S>>> {
  // What a schema throws may quote the row, as its messages do; and what it answers need not be of the specification.
  const refuse = (): Verdict<OutputOf<S>> => ({ failures: [], value: undefined as OutputOf<S> });
  const read = (answer: StandardResult<OutputOf<S>>): Verdict<OutputOf<S>> => verdictOf(answer, row);
  try {
    const answer = schema['~standard'].validate(row) as Answer<OutputOf<S>>;
    return isThenable(answer) ? Promise.resolve(answer).then(read).catch(refuse) : read(answer);
  } catch {
    return refuse();
  }
}

type Answer<Output> = StandardResult<Output> | PromiseLike<StandardResult<Output>>;

const isThenable = <T extends object>(value: T | PromiseLike<T>): value is PromiseLike<T> => 'then' in value;

function verdictOf<Output>(answer: StandardResult<Output>, row: RowObject): Verdict<Output> {
  return answer.issues === undefined
    ? { value: answer.value }
    : { failures: pathsOf(answer.issues, row), value: undefined as Output };
}

function pathsOf(issues: readonly StandardIssue[], row: RowObject): string[] {
  return [...new Set(issues.map((issue) => pathOf(issue, row)))];
}

// The column and positions in arrays say where. Any other key inside a value may be data, of a map or of JSON, read by the schema perhaps:
// `*` stands for it.
function pathOf(issue: StandardIssue, row: RowObject): string {
  let at: unknown = row;
  const names = (issue.path ?? []).map((segment, depth) => {
    const key = typeof segment === 'object' ? segment.key : segment;
    const isTold = depth === 0 || (Array.isArray(at) && /^\d+$/.test(String(key)));
    at = at instanceof Map ? at.get(key) : memberOf(at, key);
    return isTold ? String(key) : '*';
  });
  return names.join('.');
}

const memberOf = (value: unknown, key: PropertyKey): unknown =>
  typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;
