import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { answerJson, refuse } from './answer.js';
import { listen } from './listen.js';
import type { DevPerson } from './people.js';
import { readQueryRequest } from './query.js';
import { type Refusal, refusal } from './refusal.js';
import type { TestIdentitiesOptions } from './testing-claims.js';
import {
  createTestIdentities,
  type TestEnvironment,
  type TestIdentities,
  type TestRuntimeOptions,
} from './testing-identities.js';
import type { TestQuery } from './testing-query.js';
import { type Reply, refusalReply, sendReply } from './testing-reply.js';
import { createScript, type TestScript } from './testing-script.js';

/** How the broker answers the question for its keys. */
export type KeySetState = 'up' | 'down' | 'garbage';

/** What `createTestBroker` takes: identities that exist, or the options of its own. */
export type TestBrokerOptions =
  | (TestIdentitiesOptions & { readonly identities?: undefined })
  | { readonly identities: TestIdentities };

/**
 * A broker with canned answers on a free port of 127.0.0.1: `GET /v1/jwks` and `POST /v1/querymesh/query`. It checks
 * identity and request as the platform's does before it answers as it was told. It writes nothing anywhere.
 */
export interface TestBroker extends TestScript, AsyncDisposable {
  /** `http://127.0.0.1:<port>` */
  readonly url: string;
  /** The identities it takes. */
  readonly identities: TestIdentities;
  /** The five variables of an application that uses this broker; the keys in them are those of this moment. */
  readonly env: TestEnvironment;
  /** `{ env, now }`, to hand to `createRuntime`, `app.register(nnumbers, …)` or `nnumbers(…)`. */
  readonly runtimeOptions: TestRuntimeOptions;
  /** How often `GET /v1/jwks` was asked. */
  readonly keyRequests: number;
  /**
   * From now on the keys are there (`up`), refused with 503 `APPLICATION_IDENTITY_NOT_READY` (`down`), or a page instead
   * of a key set (`garbage`).
   */
  setKeySet(state: KeySetState): void;
  /** Ends every connection, held queries too, and stops listening; what was asked can still be read. Rejects with what an answer function threw, if one did. */
  close(): Promise<void>;
}

const KEY_SET_STATES: ReadonlySet<KeySetState> = new Set(['up', 'down', 'garbage']);

/**
 * Starts a broker with canned answers.
 *
 * @throws TypeError as `createTestIdentities`
 */
export async function createTestBroker(options: TestBrokerOptions = {}): Promise<TestBroker> {
  const identities = options.identities ?? createTestIdentities(options);
  const { script, play, end } = createScript();
  let keySet: KeySetState = 'up';
  let keyRequests = 0;
  let failure: { readonly error: unknown } | undefined;

  const server = createServer((request, response) => {
    // Only a caller that hangs up in the middle of its request comes here.
    serve(request, response).catch(() => response.destroy());
  });

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const asked = `${request.method} ${request.url}`;
    if (asked === 'GET /v1/jwks') return sendKeys(response);
    if (asked === 'POST /v1/querymesh/query')
      return sendReply(response, await answerQuery(request, response));
    refuse(response, 404, 'NOT_FOUND', 'the broker has no such operation');
  }

  function sendKeys(response: ServerResponse): void {
    keyRequests += 1;
    if (keySet === 'up') answerJson(response, 200, identities.jwks());
    else if (keySet === 'down') sendReply(response, refusalReply('APPLICATION_IDENTITY_NOT_READY'));
    else response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><p>not keys</p>');
  }

  // The order of the platform's own broker: who asks, then what is asked, then the query itself.
  async function answerQuery(request: IncomingMessage, response: ServerResponse): Promise<Reply> {
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    const identity = readIdentity(request);
    if ('statusCode' in identity) return refused(identity);
    const read = await readQueryRequest(request);
    if ('refusal' in read) return refused(read.refusal);
    const query: TestQuery = { ...read.query, person: personOf(identity.claims), claims: identity.claims };
    const reply = await play(query, gone.signal).catch((error: unknown): Reply => {
      failure ??= { error };
      // Never the error's own text: it may quote the SQL.
      return { kind: 'raw', statusCode: 500, body: 'an answer function of the test threw' };
    });
    return reply.kind === 'answer' && reply.rowCount > query.maxRows
      ? refused(refusal('QUERYMESH_QUERY_FAILED', `the result has more than ${query.maxRows} rows`))
      : reply;
  }

  function readIdentity(request: IncomingMessage): Refusal | { claims: Readonly<Record<string, unknown>> } {
    const lines = request.headersDistinct['x-nnumbers-identity'];
    if (lines === undefined) return refusal('USER_SESSION_REQUIRED');
    const claims = lines.length === 1 ? identities.verify(lines[0] ?? '') : undefined;
    return claims === undefined ? refusal('IDENTITY_ASSERTION_INVALID') : { claims };
  }

  const listening = await listen(server, 0, 'broker');
  const url = `http://127.0.0.1:${listening.port}`;
  const env = Object.freeze({
    ...identities.env,
    NNUMBERS_IDENTITY_JWKS: JSON.stringify(identities.jwks()),
    NNUMBERS_BROKER_URL: url,
  });
  async function close(): Promise<void> {
    end();
    await listening.close();
    const first = failure;
    failure = undefined;
    if (first !== undefined) throw first.error;
  }

  const broker = {
    url,
    identities,
    env,
    runtimeOptions: Object.freeze({ env, now: identities.now }),
    get keyRequests() {
      return keyRequests;
    },
    setKeySet(state: KeySetState) {
      if (!KEY_SET_STATES.has(state)) throw new TypeError(`the key set is ${[...KEY_SET_STATES].join(', ')}`);
      keySet = state;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
  // Descriptors, not values: the getters of the script stay getters, so printing a broker prints no SQL.
  return Object.defineProperties(broker, Object.getOwnPropertyDescriptors(script)) as typeof broker &
    TestScript;
}

const refused = (reason: Refusal): Reply => ({
  kind: 'refusal',
  refusal: reason,
  retryAfterSeconds: undefined,
});

const textOf = (claim: unknown): string | undefined => (typeof claim === 'string' ? claim : undefined);

/** The person of verified claims, with only the members they have: an assertion compares it with the person it signed for. */
function personOf(claims: Readonly<Record<string, unknown>>): DevPerson {
  const { sub, name, email, email_verified: verified, preferred_username: userName } = claims;
  return {
    sub: textOf(sub) ?? '',
    ...(typeof name === 'string' ? { name } : {}),
    ...(typeof email === 'string' ? { email } : {}),
    ...(typeof verified === 'boolean' ? { email_verified: verified } : {}),
    ...(typeof userName === 'string' ? { preferred_username: userName } : {}),
  };
}
