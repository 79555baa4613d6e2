/** What the server was told and the broker does at one moment. An answer is judged by it only if nothing changed on its way. */
export interface Weather {
  readonly clockOffsetMs: number;
  /** Since when the broker answers, in milliseconds since the epoch; its keys may be garbage all the same. */
  readonly brokerSinceMs: number;
  /** Since when the broker is up and its keys are good, in milliseconds since the epoch. */
  readonly goodSinceMs: number;
}

export interface Answer {
  readonly status: number;
  readonly retryAfter: string | undefined;
  readonly body: {
    readonly kind?: unknown;
    readonly code?: unknown;
    readonly subject?: unknown;
    readonly tokenId?: unknown;
    readonly rows?: readonly (readonly unknown[])[];
  };
}

/** One request, and what may come back. */
export interface Shot {
  readonly kind: Kind;
  readonly path: string;
  /** One line each. */
  readonly identity: readonly string[];
  /** What is wrong with an answer, if anything. Without weather it changed on the way: then each of its answers is right. */
  fault(answer: Answer, weather: Weather | undefined): string | undefined;
}

export const KINDS = [
  'known',
  'published',
  'fresh',
  'late',
  'rotating',
  'query',
  'unknown',
  'junk',
  'anonymous',
] as const;
export type Kind = (typeof KINDS)[number];

/** Somebody with a signed identity. */
export interface Person {
  readonly subject: string;
  readonly tokenId: string;
  readonly token: string;
  readonly signedAtMs: number;
}

/** An answer for this person, and no other. */
export function faultOfPerson({ status, body }: Answer, person: Person): string | undefined {
  if (status !== 200) return `was refused with ${status} ${String(body.code)}`;
  if (body.kind !== 'person') return `was ${String(body.kind)}`;
  return body.subject === person.subject && body.tokenId === person.tokenId
    ? undefined
    : `WRONG PERSON: ${String(body.subject)} for ${person.subject}`;
}

/** An answer for this person if the server's clock makes the identity valid, and a refusal otherwise. */
export function faultByClock(
  answer: Answer,
  person: Person,
  weather: Weather | undefined,
  isValidAt: (clockOffsetMs: number) => boolean,
): string | undefined {
  const mayBeRefused = weather === undefined || !isValidAt(weather.clockOffsetMs);
  if (isRefused(answer)) return mayBeRefused ? undefined : 'was refused';
  if (weather !== undefined && mayBeRefused) return 'was not refused, and is not valid by the clock';
  return faultOfPerson(answer, person);
}

export const isRefused = ({ status, body }: Answer): boolean =>
  status === 401 && body.code === 'IDENTITY_ASSERTION_INVALID' && body.kind === undefined;

export const isNotReady = ({ status, body, retryAfter }: Answer): boolean =>
  status === 503 && body.code === 'APPLICATION_IDENTITY_NOT_READY' && retryAfter === '5';
