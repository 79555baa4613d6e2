import { QueryMeshError } from './errors.js';
import type { QueryRequest } from './query.js';

/** Clock, chance and pause, handed in. */
export interface RetrySurroundings {
  readonly now: () => number;
  readonly random: () => number;
  readonly wait: (milliseconds: number, signal: AbortSignal) => Promise<void>;
}

const FIRST_CEILING_MS = 100;

// Faults of making a connection: the query was not sent. After any other fault it may have run, and SQL need not be a read.
const NEVER_SENT: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'CONNECT_TIMEOUT',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** Sends, and sends again after a refusal for the moment, as often and as late as the query's `retry` allows. */
export async function repeatRefused<T>(
  send: () => Promise<T>,
  { retry, timeoutMs }: Pick<QueryRequest, 'retry' | 'timeoutMs'>,
  { now, random, wait }: RetrySurroundings,
  signal: AbortSignal,
): Promise<T> {
  if (retry === undefined) return send();
  const deadlineMs = now() + timeoutMs;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await send();
    } catch (error) {
      if (!(error instanceof QueryMeshError) || attempt >= retry.attempts || signal.aborted) throw error;
      const askedMs = pauseAskedFor(error);
      if (askedMs === undefined || askedMs > retry.maxDelayMs) throw error;
      // Full jitter: callers that were refused together do not come back together.
      const jitterMs = random() * Math.min(retry.maxDelayMs, FIRST_CEILING_MS * 2 ** (attempt - 1));
      const pauseMs = Math.max(askedMs, jitterMs);
      if (now() + pauseMs >= deadlineMs) throw error;
      await wait(pauseMs, signal);
    }
  }
}

/** The pause a refusal asks for, in milliseconds, 0 when it names none; undefined when the query must not be sent again. */
function pauseAskedFor(error: QueryMeshError): number | undefined {
  if (!error.retryable) return undefined;
  if (error.cause instanceof Error && !NEVER_SENT.has(error.cause.message)) return undefined;
  return (error.retryAfterSeconds ?? 0) * 1000;
}
