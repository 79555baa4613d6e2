import { SessionError } from '@nn-runtime/browser';

/** What went wrong, for a person: the code for a support request, what happened, and what to do. */
export interface Failure {
  readonly code: string;
  readonly message: string;
  readonly advice: string;
  /** Whether the same question may be answered in a moment. */
  readonly isWorthRepeating: boolean;
}

const failure = (message: string, advice: string, isWorthRepeating = false): Omit<Failure, 'code'> => ({
  message,
  advice,
  isWorthRepeating,
});

/** By code: those of the runtime protocol's table, of the runtime, and of the page's own session. */
const failures: Readonly<Record<string, Omit<Failure, 'code'>>> = {
  USER_SESSION_REQUIRED: failure('Your session has ended.', 'Sign in again to continue.'),
  SIGNED_OUT: failure('Your session has ended.', 'Sign in again to continue.'),
  SESSION_ENDED: failure('Your session has ended.', 'Sign in again to continue.'),
  IDENTITY_ASSERTION_INVALID: failure(
    'The platform did not accept who you are.',
    'Reload the page; if it says so again, tell whoever runs this application.',
    true,
  ),
  ORGANIZATION_INTEGRATION_NOT_CONFIGURED: failure(
    'Your organization has no QueryMesh, or it is switched off.',
    'Ask the administrator of your organization to configure it.',
  ),
  QUERYMESH_NOT_ENABLED: failure(
    'This application may not ask QueryMesh yet.',
    'Whoever runs it turns it on: zero services enable querymesh <service>.',
    true,
  ),
  QUERYMESH_IDENTITY_REJECTED: failure(
    'QueryMesh did not accept your account.',
    'The administration of the platform has to fix this; signing in again does not help.',
  ),
  QUERYMESH_ACCESS_DENIED: failure(
    'The data policies of your organization do not let you see this.',
    'Ask your data administrator for access.',
    true,
  ),
  QUERYMESH_QUERY_FAILED: failure(
    'QueryMesh could not run this query.',
    'Try again; if it fails again, tell whoever runs this application.',
    true,
  ),
  QUERYMESH_UNAVAILABLE: failure('QueryMesh does not answer, or is busy.', 'Try again in a moment.', true),
  QUERYMESH_PROTOCOL_ERROR: failure(
    'The platform’s answer could not be read.',
    'Tell whoever administers the platform.',
    true,
  ),
  QUERYMESH_TIMEOUT: failure('The query took too long.', 'Try again, or ask for less.', true),
  APPLICATION_IDENTITY_NOT_READY: failure(
    'The platform cannot say who you are right now.',
    'Try again in a moment.',
    true,
  ),
  APPLICATION_UNAVAILABLE: failure('The application does not answer.', 'Try again in a moment.', true),
  FORBIDDEN: failure('You may not see this.', 'Ask whoever runs this application for access.'),
  NETWORK_DOWN: failure('The network did not answer.', 'Check your connection, and try again.', true),
};

const unknown = failure('Something went wrong.', 'Try again; if it fails again, report the code.', true);

/** A failure under its code, in the page's own words: what a server writes may be meant for somebody else. */
const toFailure = (code: string): Failure => ({
  code,
  // A code may be any text, also the name of what every object has.
  ...((Object.hasOwn(failures, code) ? failures[code] : undefined) ?? unknown),
});

/** What an answer that is no success stands for. */
export async function explainAnswer(response: Response): Promise<Failure> {
  const body: unknown = await response.json().catch(() => undefined);
  const code = typeof body === 'object' && body !== null && 'code' in body ? body.code : undefined;
  return toFailure(typeof code === 'string' ? code : `HTTP ${response.status}`);
}

/** What was thrown, explained. */
export async function explain(error: unknown): Promise<Failure> {
  if (!(error instanceof SessionError)) return toFailure('UNEXPECTED');
  // A refusal of QueryMesh is 403 as well, and says more than that.
  if (error.code === 'FORBIDDEN' && error.response !== undefined) {
    const answer = await explainAnswer(error.response);
    if (Object.hasOwn(failures, answer.code)) return answer;
  }
  return toFailure(error.code);
}
