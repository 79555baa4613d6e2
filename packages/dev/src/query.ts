import type { IncomingMessage } from 'node:http';
import { readBody } from './answer.js';
import { type Refusal, refusal } from './refusal.js';

/** A query request whose form checked out. */
export interface QueryRequest {
  readonly sql: string;
  readonly maxRows: number;
}

const maxBodyBytes = 1024 * 1024;
/** "from 1 to 100,000 (default 100,000)" (runtime protocol). */
const maxRowsCap = 100_000;

const invalid = (message: string): { refusal: Refusal } => ({
  refusal: refusal('VALIDATION_FAILED', message),
});

/** Reads the body of `POST /v1/querymesh/query`. No message quotes the SQL: it "never goes to log". */
export async function readQueryRequest(
  request: IncomingMessage,
): Promise<{ query: QueryRequest } | { refusal: Refusal }> {
  const body = await readBody(request, maxBodyBytes);
  if (!/^application\/json[\t ]*(;|$)/i.test(request.headers['content-type'] ?? ''))
    return invalid('the content type must be application/json');
  if (body === undefined) return invalid('the request is larger than 1 MiB');
  const fields = parseObject(body);
  if (fields === undefined) return invalid('the body must be a JSON object');
  const { sql, max_rows: maxRows = maxRowsCap } = fields;
  if (typeof sql !== 'string' || sql.trim() === '') return invalid('sql must be a text that is not blank');
  if (typeof maxRows !== 'number' || !Number.isInteger(maxRows) || maxRows < 1 || maxRows > maxRowsCap)
    return invalid('max_rows must be a whole number from 1 to 100,000');
  return { query: { sql, maxRows } };
}

function parseObject(body: Buffer): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body));
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value))
      : undefined;
  } catch {
    return undefined;
  }
}
