import { errorText, RequestError } from './nyxdb-error.js';
import { type Request, readFields } from './nyxdb-frame.js';
import type { EngineParts } from './nyxdb-parts.js';
import type { Principal } from './nyxdb-providers.js';
import { writeTable } from './nyxdb-tsv.js';

/**
 * OP_ENDPOINT_EXEC: the body of the answer.
 *
 * @param ended - fires when the connection is gone
 * @throws RequestError, or SqlEngineError from the database
 */
export async function execute(
  parts: EngineParts,
  principal: Principal | undefined,
  { id, payload }: Request,
  ended: AbortSignal,
): Promise<string> {
  const cancelled = new AbortController();
  const unregister = parts.cancellables.register(id, () => cancelled.abort());
  let release = () => {};
  try {
    const { name, parameters } = readCall(payload);
    const bound = parts.catalog.bind(name, parameters, principal, 'exec');
    release = parts.executions.take(principal?.userId ?? '');
    const signal = AbortSignal.any([ended, cancelled.signal]);
    const table = await parts.admission.run(
      () => parts.database.select(bound.sql, bound.bindings, parts.maxRows, signal),
      signal,
    );
    return writeTable(table);
  } finally {
    release();
    // Before the answer goes out: a cancel that comes after it finds nothing.
    unregister();
  }
}

/** `endpoint_name ( "\0" parameter )*` */
export function readCall(payload: Buffer): { name: string; parameters: string[] } {
  const [name, ...parameters] = readFields(payload) ?? [];
  if (name === undefined) throw new RequestError(errorText.invalidParameter);
  return { name, parameters };
}
