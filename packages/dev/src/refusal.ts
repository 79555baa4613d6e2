/** One refusal of the broker: status, code and message of the runtime protocol's table. */
export interface Refusal {
  readonly statusCode: number;
  readonly code: string;
  readonly message: string;
}

const table = {
  VALIDATION_FAILED: [400, 'the request is not valid'],
  USER_SESSION_REQUIRED: [401, 'no identity, or the session of who signed in ended'],
  IDENTITY_ASSERTION_INVALID: [401, 'the identity does not check out'],
  ORGANIZATION_INTEGRATION_NOT_CONFIGURED: [
    409,
    'the organization has no QueryMesh configured, or it is off',
  ],
  QUERYMESH_NOT_ENABLED: [409, 'the application has not turned the querymesh capability on'],
  QUERYMESH_IDENTITY_REJECTED: [502, 'QueryMesh did not accept the token of who signed in'],
  QUERYMESH_ACCESS_DENIED: [403, "the organization's data policies denied the query to this person"],
  QUERYMESH_QUERY_FAILED: [422, 'QueryMesh refused the query or the result went past the cap'],
  QUERYMESH_UNAVAILABLE: [503, 'QueryMesh did not answer or is busy'],
  APPLICATION_IDENTITY_NOT_READY: [503, 'the broker has no keys available right now'],
} as const satisfies Record<string, readonly [number, string]>;

/** 502 of a code that the table has twice: "QueryMesh answered outside the protocol". */
export const outsideProtocol: Refusal = {
  statusCode: 502,
  code: 'QUERYMESH_QUERY_FAILED',
  message: 'QueryMesh answered outside its protocol',
};

/** The codes of the runtime protocol's table. */
export type RefusalCode = keyof typeof table;

/** Whether a text is one of the table's codes. */
export const isRefusalCode = (code: string): code is RefusalCode => Object.hasOwn(table, code);

/** A refusal of the table, with a message of its own where one says more. */
export function refusal(code: RefusalCode, message?: string | undefined): Refusal {
  const [statusCode, text] = table[code];
  return { statusCode, code, message: message ?? text };
}
