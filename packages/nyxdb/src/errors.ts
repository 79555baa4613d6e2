import type { FrameFault } from './fault.js';

/** Every code an {@link EndpointError} can carry. */
export type EndpointErrorCode =
  | 'PROTOCOL_ERROR'
  | 'AUTH_FAILED'
  | 'AUTH_REVOKED'
  | 'AUTH_CHANGED'
  | 'APPLICATION_ERROR'
  | 'CREDENTIALS_UNAVAILABLE'
  | 'BUSY'
  | 'DEADLINE_EXCEEDED'
  | 'CANCELLED'
  | 'CONNECTION_LOST'
  | 'CONNECTION_FAILED'
  | 'UNSUPPORTED_BY_PROFILE'
  | 'REBUILD_LIMIT'
  | 'CLOSED';

/**
 * What became of the request: it never left (`not-sent`), the engine said that it did not run it (`not-run`), it may have
 * run (`unknown`), or the engine finished it and its answer cannot be used (`completed`).
 */
export type Outcome = 'not-sent' | 'not-run' | 'unknown' | 'completed';

/** Which deadline passed. `auth` is the `authenticate` callback or the engine's answer to it. */
export type DeadlinePhase = 'connect' | 'auth' | 'response' | 'total' | 'snapshot' | 'cancel';

/** Which engine the client believes it talks to, for a support log. */
export interface ProfileName {
  /** The pinned revision of the profile. */
  readonly revision: string;
  /** Where the profile's facts come from. */
  readonly provenance: 'documented' | 'captured' | 'development';
}

/** What went wrong, before it is known what became of the request. Internal. */
export interface Fault {
  readonly code: EndpointErrorCode;
  readonly reason?: FrameFault | (string & {}) | undefined;
  readonly phase?: DeadlinePhase | undefined;
  readonly cause?: unknown;
  readonly engineText?: string | undefined;
  readonly thrown?: unknown;
  /** Known where the engine itself said so. */
  readonly outcome?: Outcome | undefined;
}

// BUSY, CONNECTION_FAILED and _LOST, CREDENTIALS_UNAVAILABLE, DEADLINE_EXCEEDED.
const PASSING = /^(BUSY|CONN|CRED|DEAD)/;

/** Whether what hindered it may pass by itself. */
export const isPassing = (code: EndpointErrorCode): boolean => PASSING.test(code);

/**
 * Every failure of the client that is not a wrong argument (those are TypeError). No token, parameter or cell is in it,
 * in any form.
 */
export class EndpointError extends Error {
  /** A stable code, safe to log. */
  declare readonly code: EndpointErrorCode;
  /** Whether the same call may be made again as it is: it did not run, and what hindered it may pass by itself. */
  declare readonly retryable: boolean;
  /** What became of the request. */
  declare readonly outcome: Outcome;
  /** PROTOCOL_ERROR: which rule was broken. APPLICATION_ERROR: `invalid-parameter`, `unrecognized`, or what the profile names. */
  declare readonly reason?: string | undefined;
  /** DEADLINE_EXCEEDED: which deadline passed. */
  declare readonly phase?: DeadlinePhase | undefined;
  /** The engine profile in use. */
  declare readonly profile: ProfileName;
  /**
   * APPLICATION_ERROR: the engine's own text, at most 256 characters, control characters escaped. It is not sanitized by
   * this client and may hold data: not enumerable, so that nothing prints it by itself.
   */
  declare readonly engineText: string | undefined;
  /**
   * CREDENTIALS_UNAVAILABLE: what the `authenticate` callback threw. Not a `cause`, which everything prints: it may hold a token.
   */
  declare readonly thrown: unknown;

  constructor(fault: Fault, outcome: Outcome, profile: ProfileName) {
    const where = fault.reason ?? fault.phase;
    // Ours, from the code: what the engine wrote may hold a schema, SQL or a value.
    super(
      `NYXDB ${fault.code}${where ? ` (${where})` : ''}`,
      'cause' in fault ? { cause: fault.cause } : undefined,
    );
    this.code = fault.code;
    this.outcome = fault.outcome ?? outcome;
    this.retryable = isPassing(fault.code) && this.outcome.startsWith('not');
    if (fault.reason) this.reason = fault.reason;
    if (fault.phase) this.phase = fault.phase;
    this.profile = profile;
    Object.defineProperties(this, {
      engineText: { value: fault.engineText },
      thrown: { value: fault.thrown },
    });
  }
}

/** A row does not fit the `row` schema of the call. Says where, never what: values and schema messages may hold data. */
export class EndpointRowError extends Error {
  /** A stable code, safe to log. */
  readonly code = 'ROW_INVALID';
  /** The index of the first row that does not fit, from 0. */
  declare readonly rowIndex: number;
  /** The paths that failed in it, each as `name` or `name.inner.0`. */
  declare readonly paths: readonly string[];

  constructor(rowIndex: number, paths: readonly string[]) {
    super('NYXDB ROW_INVALID');
    this.rowIndex = rowIndex;
    this.paths = paths;
  }
}

// On the prototype: an own `name` would be printed beside the stack by `inspect`.
EndpointError.prototype.name = 'EndpointError';
EndpointRowError.prototype.name = 'EndpointRowError';

const CONTROL = /[\p{Cc}\p{Zl}\p{Zp}]/gu;

/** At most 256 characters of an engine's text, with control characters escaped: it may end in a terminal or a log line. */
export const boundText = (text: string): string =>
  text.slice(0, 256).replace(CONTROL, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
