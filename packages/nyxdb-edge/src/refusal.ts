import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import {
  type HttpAnswer,
  httpAnswerOf,
  IdentityRejectedError,
  IdentityUnavailableError,
  RuntimeError,
  SignInRequiredError,
} from '@nn-runtime/core';
import type { RefusalCause } from './events.js';

/** An upgrade that does not become a WebSocket: the cause for the operator, the answer for the client. */
export interface Refusal {
  readonly cause: RefusalCause;
  readonly answer: HttpAnswer;
}

const refusal = (
  cause: RefusalCause,
  statusCode: number,
  code: string,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): Refusal => ({
  cause,
  answer: {
    statusCode,
    headers: { 'cache-control': 'no-store', 'content-type': 'application/json; charset=utf-8', ...headers },
    body: JSON.stringify({ code, message }),
  },
});

const later = { 'retry-after': '5' };

export const goingAway = refusal('going-away', 503, 'EDGE_UNAVAILABLE', 'The edge is shutting down.', later);
export const tooManyRelays = refusal(
  'too-many-relays',
  503,
  'EDGE_UNAVAILABLE',
  'The edge has no room right now.',
  later,
);
export const wrongNetwork = refusal(
  'network',
  403,
  'NETWORK_NOT_ALLOWED',
  'Connections from this network are not allowed.',
);
export const wrongOrigin = refusal(
  'origin',
  403,
  'ORIGIN_NOT_ALLOWED',
  'Connections from this origin are not allowed.',
);
export const noHandshake = refusal(
  'handshake',
  400,
  'HANDSHAKE_INVALID',
  'The request is no WebSocket handshake.',
  // RFC 6455 section 4.4.
  { 'sec-websocket-version': '13' },
);
export const nobody: Refusal = { cause: 'anonymous', answer: httpAnswerOf(new SignInRequiredError()) };
export const late: Refusal = { cause: 'late', answer: httpAnswerOf(new IdentityUnavailableError()) };

/** What a failed check of the identity means: never a person, and never anonymous either (runtime protocol, "The application always checks"). */
export function identityRefusal(error: unknown): Refusal {
  // A runtime that fails in a way of its own says nothing about the identity: nobody can tell now.
  const known = error instanceof RuntimeError ? error : new IdentityUnavailableError();
  return {
    cause: known instanceof IdentityRejectedError ? 'identity' : 'identity-unavailable',
    answer: httpAnswerOf(known),
  };
}

/** Writes an answer on the socket that Node handed over with an upgrade, and ends the connection. */
export function writeAnswer(socket: Duplex, { statusCode, headers, body = '' }: HttpAnswer): void {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(
    `HTTP/1.1 ${statusCode} ${STATUS_CODES[statusCode]}\r\n${lines.join('')}` +
      `content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  );
  // What the client sent early is taken and dropped: closing over unread bytes resets the connection, and the answer would be lost.
  socket.resume();
}
