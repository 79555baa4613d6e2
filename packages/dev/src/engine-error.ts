/**
 * Why a statement gave no result.
 *
 * - `QUERY_FAILED`: the statement was refused or failed; the message says why and may go to the caller.
 * - `ROW_CAP`: the result had more rows than `maxRows`.
 * - `BUSY`: as many statements as are allowed already wait, or this one timed out before it could start.
 * - `TIMEOUT`: it ran longer than `timeoutMs`.
 * - `ABORTED`: the caller's signal fired.
 * - `CLOSED`: the engine was closed.
 * - `CRASHED`: the engine's process ended, or could not be started; the next statement starts a new one.
 */
export type SqlEngineErrorCode =
  | 'QUERY_FAILED'
  | 'ROW_CAP'
  | 'BUSY'
  | 'TIMEOUT'
  | 'ABORTED'
  | 'CLOSED'
  | 'CRASHED';

/**
 * The one error of the SQL engine. The message of `QUERY_FAILED` can hold values and names of the statement:
 * it may go to whoever sent the statement, and to no log.
 */
export class SqlEngineError extends Error {
  readonly code: SqlEngineErrorCode;

  constructor(code: SqlEngineErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

// On the prototype: an own enumerable `name` would be printed beside the stack by `inspect`.
Object.defineProperty(SqlEngineError.prototype, 'name', { value: 'SqlEngineError' });
