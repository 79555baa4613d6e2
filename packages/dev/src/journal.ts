import type { IncomingMessage, ServerResponse } from 'node:http';
import { refusalCode } from './answer.js';
import type { DevPerson } from './people.js';
import { readTarget } from './target.js';

/** One exchange the platform had, for a log: no query string, no header and no body is in it. */
export interface Exchange {
  readonly part: 'edge' | 'broker';
  /** The application of the edge; undefined at the broker, which serves them all. */
  readonly appId: string | undefined;
  readonly method: string;
  /** As the request had it, without the query: a query may hold codes, tokens and what people type. */
  readonly path: string;
  /** 101 for an upgrade that came about; undefined when the other side went away before any answer. */
  readonly statusCode: number | undefined;
  /** The code of the platform's own refusal. */
  readonly code: string | undefined;
  /** Whether the answer was sent to its end. */
  readonly complete: boolean;
  /** Who asked; undefined for nobody. */
  readonly person: DevPerson | undefined;
  readonly startedAt: Date;
  readonly durationMs: number;
}

/** Tells a listener of every exchange once it is over. */
export interface Journal {
  watch(request: IncomingMessage, response: ServerResponse, where: Pick<Exchange, 'part' | 'appId'>): void;
  /** The request is this person's. */
  person(request: IncomingMessage, person: DevPerson | undefined): void;
  /** An upgrade has no response object: it is told at once. */
  upgrade(request: IncomingMessage, appId: string, statusCode: number | undefined): void;
}

export function createJournal(listener: (exchange: Exchange) => void, nowMs: () => number): Journal {
  const people = new WeakMap<IncomingMessage, DevPerson>();

  const tell = (
    request: IncomingMessage,
    startedMs: number,
    rest: Pick<Exchange, 'part' | 'appId' | 'statusCode' | 'code' | 'complete'>,
  ): void =>
    listener({
      ...rest,
      method: request.method ?? '',
      path: readTarget(request.url ?? '/').raw.split(/[?#]/, 1)[0] ?? '/',
      person: people.get(request),
      startedAt: new Date(startedMs),
      durationMs: nowMs() - startedMs,
    });

  return {
    watch(request, response, { part, appId }) {
      const startedMs = nowMs();
      response.once('close', () =>
        tell(request, startedMs, {
          part,
          appId,
          statusCode: response.headersSent ? response.statusCode : undefined,
          code: refusalCode(response),
          complete: response.writableFinished,
        }),
      );
    },
    person(request, person) {
      if (person !== undefined) people.set(request, person);
    },
    upgrade(request, appId, statusCode) {
      tell(request, nowMs(), {
        part: 'edge',
        appId,
        statusCode,
        code: undefined,
        complete: statusCode !== undefined,
      });
    },
  };
}
