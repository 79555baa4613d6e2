/** Every error this package throws on purpose. Wrong arguments are a TypeError; an abort is rethrown as it came. */

/** Every code of this package. Switch on it: it stays the same when two copies of the package are on one page. */
export type SessionErrorCode =
  | 'SIGNED_OUT'
  | 'SESSION_ENDED'
  | 'FORBIDDEN'
  | 'NETWORK_DOWN'
  | 'PROTOCOL_ERROR'
  | 'SIGN_IN_LOOP';

/** The base of every error here. Its message is fixed for each code: it quotes no answer, address or claim. */
export abstract class SessionError extends Error {
  /** What happened, as a stable word. */
  abstract readonly code: SessionErrorCode;
  /**
   * The answer that showed it, its body still unread; undefined where there was none. Not enumerable, so that no error
   * reporter sends an answer away by itself.
   */
  declare readonly response: Response | undefined;

  constructor(message: string, response?: Response, options?: ErrorOptions) {
    super(message, options);
    Object.defineProperty(this, 'response', { value: response });
  }
}

/**
 * The application answered 401 and nobody is signed in, or the session of who signed in has ended. Take the person to
 * {@link signIn} and repeat.
 */
export class SignedOutError extends SessionError {
  readonly code = 'SIGNED_OUT';

  static {
    SignedOutError.prototype.name = 'SignedOutError';
  }

  constructor(response?: Response) {
    super('Sign in to continue.', response);
  }
}

/**
 * The session is over, and something on the way answered a data request with a sign-in page or a redirect to one. The
 * request was not answered by the application: whatever the answer holds is not its data.
 */
export class SessionEndedError extends SessionError {
  readonly code = 'SESSION_ENDED';

  static {
    SessionEndedError.prototype.name = 'SessionEndedError';
  }

  constructor(response?: Response) {
    super('The session has ended. Sign in to continue.', response);
  }
}

/** Answered 403: the person is known and may not do this, or the platform refused the origin of the page. Signing in again does not help. */
export class ForbiddenError extends SessionError {
  readonly code = 'FORBIDDEN';

  static {
    ForbiddenError.prototype.name = 'ForbiddenError';
  }

  constructor(response?: Response) {
    super('This is not allowed.', response);
  }
}

/** No answer, or one cut off on the way: offline, refused, reset, or blocked by the browser. `cause` is what fetch threw. Says nothing about who is signed in. */
export class NetworkError extends SessionError {
  readonly code = 'NETWORK_DOWN';

  static {
    NetworkError.prototype.name = 'NetworkError';
  }

  constructor(cause: unknown) {
    super('The network did not answer.', undefined, { cause });
  }
}

/** A reserved path answered something the runtime protocol does not have: another status, no JSON, or JSON of another shape. Says nothing about who is signed in. */
export class ProtocolError extends SessionError {
  readonly code = 'PROTOCOL_ERROR';

  static {
    ProtocolError.prototype.name = 'ProtocolError';
  }

  constructor(response?: Response) {
    super('The platform answered outside the runtime protocol.', response);
  }
}

/** This tab went to sign-in again and again and came back without what it wanted. Nothing was navigated: tell the person, and offer a link to `signInUrl()`. */
export class SignInLoopError extends SessionError {
  readonly code = 'SIGN_IN_LOOP';

  static {
    SignInLoopError.prototype.name = 'SignInLoopError';
  }

  constructor() {
    super('Signing in repeats itself. It was stopped.');
  }
}

/** Every error class of this package, for exhaustive handling. */
export type AnySessionError =
  | SignedOutError
  | SessionEndedError
  | ForbiddenError
  | NetworkError
  | ProtocolError
  | SignInLoopError;
