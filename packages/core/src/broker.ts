import { z } from 'zod';
import { BodyTooLargeError, readBody } from './body.js';
import { limitCall } from './call-limit.js';
import { QueryMeshError, type QueryMeshErrorDetails, SignInRequiredError } from './errors.js';
import type { QueryGate } from './gate.js';
import { parseJsonObject } from './header.js';
import type { HttpClient, HttpReply } from './http-client.js';
import type { QueryRequest } from './query.js';
import type { BrokerRefusalCode, QueryMeshErrorCode } from './querymesh-codes.js';
import { repeatRefused } from './retry.js';
import { retryAfterSeconds } from './retry-after.js';
import { IDENTITY_HEADER } from './wire.js';

/** What a call to the broker needs besides the query. */
export interface BrokerOptions {
  readonly queryUrl: string;
  readonly fetch: HttpClient;
  readonly maxResponseBytes: number;
  /** Aborts when the runtime closes. */
  readonly closing: AbortSignal;
  /** Bounds the queries under way at once. */
  readonly gate: QueryGate;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** In [0, 1). */
  readonly random: () => number;
  readonly wait: (milliseconds: number, signal: AbortSignal) => Promise<void>;
}

// Which statuses the contract gives each refusal. An answer that pairs them otherwise is not the protocol's.
const STATUSES_OF_REFUSAL: Readonly<Record<BrokerRefusalCode, readonly number[]>> = {
  VALIDATION_FAILED: [400],
  USER_SESSION_REQUIRED: [401],
  IDENTITY_ASSERTION_INVALID: [401],
  ORGANIZATION_INTEGRATION_NOT_CONFIGURED: [409],
  QUERYMESH_NOT_ENABLED: [409],
  QUERYMESH_IDENTITY_REJECTED: [502],
  QUERYMESH_ACCESS_DENIED: [403],
  QUERYMESH_QUERY_FAILED: [422, 502],
  QUERYMESH_UNAVAILABLE: [503],
  APPLICATION_IDENTITY_NOT_READY: [503],
};

const MAX_REFUSAL_BYTES = 64 * 1024;

/**
 * Sends one query, once unless its `retry` says otherwise, with the identity of the person who asks and nothing else (contract: "no path falls back to an
 * application credential"), and reads the answer: time limit and signal are of both, since a schema may make reading as long as it likes.
 * @param read ends early, in any way, when the signal aborts, and may throw errors of its own.
 * @throws SignInRequiredError, QueryMeshError
 */
export async function askBroker<T>(
  compactIdentity: string,
  request: QueryRequest,
  options: BrokerOptions,
  read: (body: Uint8Array, signal: AbortSignal) => T | Promise<T>,
): Promise<T> {
  if (request.signal?.aborted)
    throw new QueryMeshError('QUERYMESH_ABORTED', { cause: request.signal.reason });
  if (options.closing.aborted)
    throw new QueryMeshError('QUERYMESH_ABORTED', { cause: options.closing.reason });
  const limit = limitCall(request, options.closing);
  try {
    const body = admit(compactIdentity, request, options, limit.signal).catch((error: unknown) =>
      Promise.reject(toQueryError(error)),
    );
    return await Promise.race([limit.passed, body.then((bytes) => read(bytes, limit.signal))]);
  } catch (error) {
    throw limit.reason() ?? error;
  } finally {
    limit.release();
  }
}

async function admit(
  compactIdentity: string,
  request: QueryRequest,
  options: BrokerOptions,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const leave = await options.gate.enter(signal);
  try {
    return await repeatRefused(
      () =>
        send(compactIdentity, request, options, signal).catch((error) => Promise.reject(toQueryError(error))),
      request,
      options,
      signal,
    );
  } finally {
    leave();
  }
}

async function send(
  compactIdentity: string,
  request: QueryRequest,
  options: BrokerOptions,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const response = await options.fetch(options.queryUrl, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json',
      [IDENTITY_HEADER]: compactIdentity,
    },
    body: JSON.stringify({ sql: request.sql, max_rows: request.maxRows }),
    // An identity goes to the configured broker and nowhere it points to.
    redirect: 'error',
    signal,
  });
  const succeeded = response.status === 200;
  const body = await readBody(response, succeeded ? options.maxResponseBytes : MAX_REFUSAL_BYTES).catch(
    (error: unknown) => Promise.reject(toBodyError(error)),
  );
  if (succeeded) return body;
  throw readRefusal(response, body, options.now());
}

const refusalBody = z.object({
  code: z.string().refine((code): code is BrokerRefusalCode => Object.hasOwn(STATUSES_OF_REFUSAL, code)),
  message: z.string(),
});

function readRefusal(
  response: HttpReply,
  body: Uint8Array,
  nowMs: number,
): QueryMeshError | SignInRequiredError {
  const refusal = refusalBody.safeParse(parseJsonObject(body));
  if (!refusal.success) return new QueryMeshError('QUERYMESH_PROTOCOL_ERROR');
  const { code, message } = refusal.data;
  if (!STATUSES_OF_REFUSAL[code].includes(response.status))
    return new QueryMeshError('QUERYMESH_PROTOCOL_ERROR');
  if (code === 'USER_SESSION_REQUIRED') return new SignInRequiredError();
  return new QueryMeshError(code, {
    statusCode: response.status,
    brokerMessage: message,
    retryAfterSeconds: retryAfterSeconds(response.headers, nowMs),
  });
}

function toQueryError(error: unknown): Error {
  if (error instanceof QueryMeshError || error instanceof SignInRequiredError) return error;
  return queryErrorOf('QUERYMESH_UNAVAILABLE', codeBelow(error));
}

// The broker began to answer, and what came is not the protocol's: too long, cut, or not of the coding it says.
function toBodyError(error: unknown): QueryMeshError {
  if (error instanceof BodyTooLargeError) return new QueryMeshError('QUERYMESH_PROTOCOL_ERROR');
  return queryErrorOf('QUERYMESH_PROTOCOL_ERROR', codeBelow(error));
}

function queryErrorOf(code: QueryMeshErrorCode, systemCode: string | undefined): QueryMeshError {
  // undici's own patience, which a longer `timeoutMs` than its five minutes runs into.
  const timedOut = systemCode === 'UND_ERR_HEADERS_TIMEOUT' || systemCode === 'UND_ERR_BODY_TIMEOUT';
  return new QueryMeshError(timedOut ? 'QUERYMESH_TIMEOUT' : code, causeOf(systemCode));
}

// Only the name of the fault (ECONNREFUSED): the error itself may hold the request, and with it the SQL and the identity.
function causeOf(systemCode: string | undefined): QueryMeshErrorDetails {
  return { cause: new Error(systemCode ?? 'FETCH_FAILED') };
}

function codeBelow(error: unknown): string | undefined {
  for (let below = error, depth = 0; below instanceof Error && depth < 4; below = below.cause, depth += 1) {
    const code = 'code' in below ? below.code : undefined;
    if (typeof code === 'string' && /^[A-Z][A-Z_0-9]{2,40}$/.test(code)) return code;
  }
  return undefined;
}
