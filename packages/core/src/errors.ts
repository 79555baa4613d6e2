/** Every error the runtime throws on purpose, and the HTTP answer each one stands for. */

import { QUERYMESH_FACTS, type QueryMeshErrorCode } from './querymesh-codes.js';

/** Why an identity was refused. For `onRefused` and diagnostics only: a client is never told (design I12). */
export type RefusalReason =
  | 'repeated'
  | 'empty'
  | 'too-long'
  | 'malformed'
  | 'algorithm'
  | 'type'
  | 'critical'
  | 'key-id'
  | 'unknown-key'
  | 'signature'
  | 'claims'
  | 'issuer'
  | 'audience'
  | 'organization'
  | 'not-yet-valid'
  | 'expired'
  | 'lifetime'
  | 'keys-unavailable';

/** Every code of this package. */
export type RuntimeErrorCode =
  | 'CONFIGURATION_INVALID'
  | 'IDENTITY_ASSERTION_INVALID'
  | 'APPLICATION_IDENTITY_NOT_READY'
  | 'USER_SESSION_REQUIRED'
  | 'QUERYMESH_ROW_INVALID'
  | QueryMeshErrorCode;

/**
 * The base of every error here. It carries its own HTTP answer, so that a framework's default error
 * handling already gives the right status and headers.
 */
export abstract class RuntimeError extends Error {
  /** A stable code, safe to log and to send. */
  abstract readonly code: RuntimeErrorCode;
  /** The HTTP status this error stands for. */
  readonly statusCode: number;
  /** HTTP headers, in lower case, that belong to an answer made from this error. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    message: string,
    statusCode: number,
    headers: Readonly<Record<string, string>>,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.statusCode = statusCode;
    this.headers = Object.freeze(headers);
  }

  /** The body a client may see: code and message, never a reason, a token or SQL. */
  toJSON(): { code: RuntimeErrorCode; message: string } {
    return { code: this.code, message: this.message };
  }
}

// On the prototype: an own enumerable `name` would be printed beside the stack by `inspect`.
const named = (error: { prototype: object }, name: string): void => {
  Object.defineProperty(error.prototype, 'name', { value: name, configurable: true, writable: true });
};

/** One fault of the configuration: the variable or option, and what is wrong with it (never its value). */
export interface ConfigurationFault {
  readonly name: string;
  readonly problem: string;
}

/** Thrown by `createRuntime`, once, naming every wrong variable and option. Nothing has been fetched or verified. */
export class ConfigurationError extends RuntimeError {
  readonly code = 'CONFIGURATION_INVALID';
  /** All faults found, in the order of the documentation's table. */
  readonly faults: readonly ConfigurationFault[];

  constructor(faults: readonly ConfigurationFault[]) {
    const lines = faults.map((fault) => `  ${fault.name}: ${fault.problem}`).join('\n');
    super(`nn-runtime is not configured correctly:\n${lines}`, 500, { 'cache-control': 'no-store' });
    this.faults = Object.freeze([...faults]);
  }
}

// RFC 9110 section 15.5.2: a 401 names its scheme.
const UNAUTHORIZED_HEADERS = Object.freeze({
  'cache-control': 'no-store',
  'www-authenticate': 'NNumbers-Identity',
});

/**
 * 401: the identity header is present and does not check out. Whatever was read of the token by then is not to be trusted,
 * and none of it is here. It carries no stack trace: strangers decide how often it is made, and `reason` says more.
 */
export class IdentityRejectedError extends RuntimeError {
  readonly code = 'IDENTITY_ASSERTION_INVALID';
  /** For logs and metrics. Not enumerable: no serialiser sends it to a client by accident. */
  declare readonly reason: RefusalReason;

  constructor(reason: RefusalReason) {
    // Walking the stack costs several times what the refusal itself does. By Reflect, which only says so where `Error` is frozen
    // (`--frozen-intrinsics`): an assignment would throw, and a stranger's token would end the process.
    const { stackTraceLimit } = Error;
    Reflect.set(Error, 'stackTraceLimit', 0);
    super('The identity of this request does not check out.', 401, UNAUTHORIZED_HEADERS);
    Reflect.set(Error, 'stackTraceLimit', stackTraceLimit);
    Object.defineProperty(this, 'reason', { value: reason });
  }
}

/**
 * 503: nobody can say now whether the identity is valid, since no usable key set could be had (design I9), or the runtime is closed:
 * then `cause` says so.
 */
export class IdentityUnavailableError extends RuntimeError {
  readonly code = 'APPLICATION_IDENTITY_NOT_READY';

  constructor(options?: ErrorOptions) {
    super(
      'The identity of this request cannot be checked right now.',
      503,
      { 'cache-control': 'no-store', 'retry-after': '5' },
      options,
    );
  }
}

/** 401: this needs a person, and the request is anonymous or the person's session ended. Take them to sign-in. */
export class SignInRequiredError extends RuntimeError {
  readonly code = 'USER_SESSION_REQUIRED';

  constructor() {
    super('Sign in to continue.', 401, UNAUTHORIZED_HEADERS);
  }
}

/** What a {@link QueryMeshError} may be told besides its code. */
export interface QueryMeshErrorDetails {
  /** The status of the broker's answer, where the table allows two for a code (422 or 502). */
  readonly statusCode?: number | undefined;
  /** The broker's own message. It may quote the SQL. */
  readonly brokerMessage?: string | undefined;
  /** Seconds from the broker's Retry-After. Default 1 for a retryable code. */
  readonly retryAfterSeconds?: number | undefined;
  /** What was thrown below: the reason of an abort. Never anything that holds SQL or a token. */
  readonly cause?: unknown;
  /** A more exact message of ours for VALIDATION_FAILED, such as which argument was wrong. Never a value. */
  readonly message?: string | undefined;
}

/** A query that was refused or could not be finished. Carries the broker's code, its status, and what to do about it. */
export class QueryMeshError extends RuntimeError {
  readonly code: QueryMeshErrorCode;
  /** Whether the same call may succeed in a moment, with nothing changed. */
  readonly retryable: boolean;
  /** What to do, in the contract's words. */
  readonly advice: string;
  /** What the broker's Retry-After asked for, in seconds, if it sent one. */
  readonly retryAfterSeconds: number | undefined;
  /** The broker's own message, if it sent one. It may quote the SQL, so it is not enumerable and nothing prints it by itself. */
  declare readonly brokerMessage: string | undefined;

  constructor(code: QueryMeshErrorCode, details: QueryMeshErrorDetails = {}) {
    const known = QUERYMESH_FACTS[code];
    super(
      details.message ?? known.message,
      details.statusCode ?? known.statusCode,
      {
        ...(known.statusCode === 401 ? UNAUTHORIZED_HEADERS : { 'cache-control': 'no-store' }),
        ...(known.retryable ? { 'retry-after': String(details.retryAfterSeconds ?? 1) } : {}),
      },
      'cause' in details && details.cause !== undefined ? { cause: details.cause } : undefined,
    );
    this.code = code;
    this.retryable = known.retryable;
    this.advice = known.advice;
    this.retryAfterSeconds = details.retryAfterSeconds;
    Object.defineProperty(this, 'brokerMessage', { value: details.brokerMessage });
  }
}

/** 502: a row does not fit the `row` schema of the call. Says where, never what: values and schema messages may hold data (design Q9). */
export class QueryMeshRowError extends RuntimeError {
  readonly code = 'QUERYMESH_ROW_INVALID';
  /** The index of the first row that does not fit, from 0. */
  readonly rowIndex: number;
  /** The paths that failed in it, each as `name` or `name.0`: column, and positions in its arrays. Any other key may be data, and is `*`. */
  readonly paths: readonly string[];

  constructor(rowIndex: number, paths: readonly string[]) {
    super('A row of the answer does not fit the schema it was asked for.', 502, {
      'cache-control': 'no-store',
    });
    this.rowIndex = rowIndex;
    this.paths = Object.freeze([...paths]);
  }
}

/** Every error class of this package, for exhaustive handling. */
export type AnyRuntimeError =
  | ConfigurationError
  | IdentityRejectedError
  | IdentityUnavailableError
  | SignInRequiredError
  | QueryMeshError
  | QueryMeshRowError;

named(RuntimeError, 'RuntimeError');
named(ConfigurationError, 'ConfigurationError');
named(IdentityRejectedError, 'IdentityRejectedError');
named(IdentityUnavailableError, 'IdentityUnavailableError');
named(SignInRequiredError, 'SignInRequiredError');
named(QueryMeshError, 'QueryMeshError');
named(QueryMeshRowError, 'QueryMeshRowError');
