export { onSessionChange } from './change.js';
export { getContext } from './context.js';
export type { AnySessionError, SessionErrorCode } from './errors.js';
export {
  ForbiddenError,
  NetworkError,
  ProtocolError,
  SessionEndedError,
  SessionError,
  SignedOutError,
  SignInLoopError,
} from './errors.js';
export { fetchWithSession } from './fetch.js';
export type { SessionListener } from './known.js';
export type { CallOptions } from './request.js';
export { getSession } from './session.js';
export type { Context, Organization, Session, SessionUser } from './shape.js';
export { signIn, signInUrl } from './signin.js';
export { signOut } from './signout.js';
