import { SqlEngineError } from './engine-error.js';
import { type ErrorText, errorText, RequestError } from './nyxdb-error.js';

/** The short text a client gets: "stable short errors instead of schema or SQL diagnostics" (contract). */
export function textOf(error: unknown): ErrorText {
  if (error instanceof RequestError) return error.text;
  if (error instanceof SqlEngineError && error.code === 'ROW_CAP') return errorText.resultTooLarge;
  if (error instanceof SqlEngineError && error.code === 'ABORTED') return errorText.cancelled;
  return errorText.queryFailed;
}
