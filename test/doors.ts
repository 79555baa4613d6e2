import { createRuntime, type RefusalReason, RuntimeError, type RuntimeOptions } from '@nn-runtime/core';
import { frameworks } from './frameworks.js';
import { RawConnection } from './raw-http.js';

/** Every way an identity comes in, asked the same question: the three frameworks over a socket, and the runtime directly. */
export interface Door {
  readonly name: string;
  /** Whether values pass an HTTP parser on their way. */
  readonly overHttp: boolean;
  open(options: RuntimeOptions): Promise<OpenDoor>;
}

export interface OpenDoor {
  /** Shows one header value and tells how it was taken. */
  ask(value: string): Promise<Verdict>;
  close(): Promise<void>;
}

export interface Verdict {
  readonly status: number;
  /** What `onRefused` was told, or the kind of identity. */
  readonly outcome: RefusalReason | 'person' | 'anonymous';
  /** The identity as JSON, or the body of the refusal. */
  readonly body: unknown;
}

const throughHttp: readonly Door[] = frameworks.map((framework) => ({
  name: framework.name,
  overHttp: true,
  async open(options) {
    const refused: RefusalReason[] = [];
    const app = await framework.start({ ...options, onRefused: ({ reason }) => refused.push(reason) });
    let connection = await RawConnection.open(app.port);
    return {
      async ask(value) {
        if (connection.ended) connection = await RawConnection.open(app.port);
        const handledBefore = app.handled.length;
        const refusedBefore = refused.length;
        const answer = await connection.request([`X-NNumbers-Identity: ${value}`]);
        const handled = app.handled.length - handledBefore;
        const body = JSON.parse(answer.body);
        if (answer.status === 200 && handled === 1 && refused.length === refusedBefore) {
          return { status: 200, outcome: body.kind, body };
        }
        // A refusal is one event, reaches no handler, is never stored and names its scheme.
        const reason = refused[refusedBefore];
        if (handled !== 0 || refused.length !== refusedBefore + 1 || reason === undefined) {
          throw new Error(
            `answer ${answer.status} with ${handled} handled, ${refused.length - refusedBefore} refused`,
          );
        }
        if (answer.headers['cache-control'] !== 'no-store') throw new Error('a refusal may be stored');
        const proof =
          answer.status === 401 ? answer.headers['www-authenticate'] : answer.headers['retry-after'];
        if (proof !== (answer.status === 401 ? 'NNumbers-Identity' : '5')) throw new Error('header missing');
        return { status: answer.status, outcome: reason, body };
      },
      async close() {
        connection.close();
        await app.close();
      },
    };
  },
}));

const direct: Door = {
  name: 'the runtime itself',
  overHttp: false,
  async open(options) {
    const refused: RefusalReason[] = [];
    const runtime = createRuntime({ ...options, onRefused: ({ reason }) => refused.push(reason) });
    return {
      async ask(value) {
        const refusedBefore = refused.length;
        try {
          const { identity } = await runtime.authenticate(value);
          if (refused.length !== refusedBefore) throw new Error('a person, and a refusal');
          return { status: 200, outcome: identity.kind, body: JSON.parse(JSON.stringify(identity)) };
        } catch (error) {
          const reason = refused[refusedBefore];
          if (!(error instanceof RuntimeError) || reason === undefined) throw error;
          return { status: error.statusCode, outcome: reason, body: error.toJSON() };
        }
      },
      close: () => runtime.close(),
    };
  },
};

export const doors: readonly Door[] = [...throughHttp, direct];
