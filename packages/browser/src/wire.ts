/** The reserved paths (runtime protocol, "The Reserved Paths"). Both ends must agree on them, so they are no options. */

export const LOGIN_PATH = '/.nnumbers/auth/login';
export const LOGOUT_PATH = '/.nnumbers/auth/logout';
export const SESSION_PATH = '/.nnumbers/auth/session';
export const CONTEXT_PATH = '/.nnumbers/v1/context';

/** The code of a 401 that asks for sign-in, from an application's guard or from the broker. */
export const SIGN_IN_REQUIRED_CODE = 'USER_SESSION_REQUIRED';
