/** Every code that a query can end with, and what it stands for. */

/** The refusals of the broker's table (runtime protocol, "The Broker, from Inside the Cluster"). */
export type BrokerRefusalCode =
  | 'VALIDATION_FAILED'
  | 'USER_SESSION_REQUIRED'
  | 'IDENTITY_ASSERTION_INVALID'
  | 'ORGANIZATION_INTEGRATION_NOT_CONFIGURED'
  | 'QUERYMESH_NOT_ENABLED'
  | 'QUERYMESH_IDENTITY_REJECTED'
  | 'QUERYMESH_ACCESS_DENIED'
  | 'QUERYMESH_QUERY_FAILED'
  | 'QUERYMESH_UNAVAILABLE'
  | 'APPLICATION_IDENTITY_NOT_READY';

/**
 * Every code a `QueryMeshError` can carry: the broker's own, and three of this client
 * (`QUERYMESH_PROTOCOL_ERROR`, `QUERYMESH_TIMEOUT`, `QUERYMESH_ABORTED`).
 */
export type QueryMeshErrorCode =
  | Exclude<BrokerRefusalCode, 'USER_SESSION_REQUIRED'>
  | 'QUERYMESH_PROTOCOL_ERROR'
  | 'QUERYMESH_TIMEOUT'
  | 'QUERYMESH_ABORTED';

interface QueryMeshFact {
  readonly statusCode: number;
  readonly message: string;
  readonly advice: string;
  readonly retryable: boolean;
}

const fact = (statusCode: number, message: string, advice: string, retryable = false): QueryMeshFact => ({
  statusCode,
  message,
  advice,
  retryable,
});

// One message per code, ours: the broker's own text may quote the SQL (design Q3). The advice is the contract's "what to do".
export const QUERYMESH_FACTS: Readonly<Record<QueryMeshErrorCode, QueryMeshFact>> = {
  VALIDATION_FAILED: fact(400, 'The query request is not valid.', 'Fix the request and repeat.'),
  IDENTITY_ASSERTION_INVALID: fact(
    401,
    'The identity of this request does not check out.',
    'Use the identity the platform hands over; never treat it as a person.',
  ),
  ORGANIZATION_INTEGRATION_NOT_CONFIGURED: fact(
    409,
    'The organization has no QueryMesh configured, or it is off.',
    'The organization administrator configures it.',
  ),
  QUERYMESH_NOT_ENABLED: fact(
    409,
    'The application has not turned the querymesh capability on.',
    'Run `zero services enable querymesh <service>`; it takes effect immediately.',
  ),
  QUERYMESH_IDENTITY_REJECTED: fact(
    502,
    'QueryMesh did not accept the token of who signed in.',
    'When the realm lacks the scope QueryMesh requires, the platform administration fixes it; signing in again does not help.',
  ),
  QUERYMESH_ACCESS_DENIED: fact(
    403,
    'The data policies of the organization denied this query.',
    'Ask the data administrator for access.',
  ),
  QUERYMESH_QUERY_FAILED: fact(
    422,
    'QueryMesh refused the query, or its result went past the cap.',
    'Check the query and repeat; on 502, talk to whoever administers the QueryMesh.',
  ),
  QUERYMESH_UNAVAILABLE: fact(503, 'QueryMesh is not available right now.', 'Repeat in a moment.', true),
  APPLICATION_IDENTITY_NOT_READY: fact(
    503,
    'The platform has no identity keys available right now.',
    'Repeat; if it persists, run `zero services doctor organization-iam <service>`.',
    true,
  ),
  QUERYMESH_PROTOCOL_ERROR: fact(
    502,
    'The answer of the broker is not of the protocol.',
    'Talk to whoever administers the platform.',
  ),
  QUERYMESH_TIMEOUT: fact(
    504,
    'The query took longer than its time limit.',
    'Ask for less, or raise `timeoutMs`.',
  ),
  QUERYMESH_ABORTED: fact(
    499,
    'The query was given up by its caller.',
    'Nothing: the caller went away or aborted it.',
  ),
};
