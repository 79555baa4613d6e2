import type { ServerResponse } from 'node:http';
import { answerJson, refuse } from './answer.js';
import { isRefusalCode, type Refusal, type RefusalCode, refusal } from './refusal.js';
import { encodeAnswer, type TestAnswer } from './testing-answer.js';
import type { Matching } from './testing-query.js';

/** An answer that need not be of the protocol. */
export interface RawAnswer {
  readonly statusCode: number;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Whether the connection breaks after the body, as if more had been to come; default false. */
  readonly cut?: boolean | undefined;
}

/** What goes over the wire. */
export type Reply =
  | { readonly kind: 'answer'; readonly body: string; readonly rowCount: number }
  | { readonly kind: 'refusal'; readonly refusal: Refusal; readonly retryAfterSeconds: number | undefined }
  | ({ readonly kind: 'raw' } & RawAnswer)
  | { readonly kind: 'drop' };

/** What a refusal says besides its code. */
export interface RefuseOptions extends Matching {
  /** For `QUERYMESH_QUERY_FAILED`, whose status is 422 or 502; default 422. The other codes have one status each. */
  readonly statusCode?: 422 | 502 | undefined;
  /** The message; default one for each code. */
  readonly message?: string | undefined;
  /** `Retry-After`, in whole seconds; default 1 with status 503, else none. */
  readonly retryAfterSeconds?: number | undefined;
}

/** @throws TypeError when the answer is not of the protocol's form */
export function answerReply(answer: TestAnswer): Reply {
  return { kind: 'answer', body: encodeAnswer(answer), rowCount: answer.rows.length };
}

/** @throws TypeError when the code is not of the table, or the status is not the code's */
export function refusalReply(code: RefusalCode, options: RefuseOptions = {}): Reply {
  if (!isRefusalCode(code)) throw new TypeError("the code is none of the runtime protocol's table");
  const { statusCode, message } = options;
  if (statusCode !== undefined && code !== 'QUERYMESH_QUERY_FAILED')
    throw new TypeError('only QUERYMESH_QUERY_FAILED has a choice of status');
  if (statusCode !== undefined && statusCode !== 422 && statusCode !== 502)
    throw new TypeError('the status of QUERYMESH_QUERY_FAILED is 422 or 502');
  const plain = refusal(code, message);
  const { retryAfterSeconds = plain.statusCode === 503 ? 1 : undefined } = options;
  return {
    kind: 'refusal',
    refusal: { ...plain, statusCode: statusCode ?? plain.statusCode },
    retryAfterSeconds,
  };
}

/** Sends a reply. */
export function sendReply(response: ServerResponse, reply: Reply): void {
  if (reply.kind === 'drop') response.destroy();
  else if (reply.kind === 'answer') answerJson(response, 200, reply.body);
  else if (reply.kind === 'raw') sendRaw(response, reply);
  else {
    const { statusCode, code, message } = reply.refusal;
    const seconds = reply.retryAfterSeconds;
    const headers: Record<string, string> = seconds === undefined ? {} : { 'retry-after': String(seconds) };
    refuse(response, statusCode, code, message, headers);
  }
}

function sendRaw(response: ServerResponse, { statusCode, headers = {}, body, cut = false }: RawAnswer): void {
  response.writeHead(statusCode, headers);
  if (cut) response.write(body, () => response.destroy());
  else response.end(body);
}
