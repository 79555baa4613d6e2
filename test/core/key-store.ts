import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import {
  createRuntime,
  IdentityRejectedError,
  IdentityUnavailableError,
  isPerson,
  type Runtime,
  type RuntimeEvents,
  type RuntimeOptions,
} from '@nn-runtime/core';
import { environment, makeKey, NOW_MS, type SigningKey, token } from '../tokens.js';

/** What `fetch` was called with. */
export interface FetchCall {
  readonly url: string;
  readonly init: RequestInit;
  readonly atMs: number;
}

/** A runtime whose clock, randomness and network a test holds in its hands. */
export interface StoreUnderTest {
  readonly runtime: Runtime;
  readonly clock: { ms: number };
  readonly calls: readonly FetchCall[];
  /** Moves the clock on. */
  pass(seconds: number): void;
  /** Replaces what every later fetch gives. */
  answer(next: () => Response | Promise<Response>): void;
  /** `person <sub>`, or status and reason of the refusal. */
  verdict(compact: string): Promise<string>;
}

export interface StoreOptions extends Omit<RuntimeOptions, 'env' | 'fetch' | 'now'> {
  readonly environmentKeys?: readonly SigningKey[];
  readonly env?: Record<string, string>;
}

export const keySet = (...keys: readonly SigningKey[]): Response =>
  Response.json({ keys: keys.map((key) => key.jwk) });

export const unreachable = (): Promise<Response> => Promise.reject(new TypeError('fetch failed'));

const trustRoot = makeKey('root');

export function startStore(options: StoreOptions = {}): StoreUnderTest {
  const { environmentKeys = [trustRoot], env, ...rest } = options;
  const clock = { ms: NOW_MS };
  const calls: FetchCall[] = [];
  let respond: () => Response | Promise<Response> = unreachable;
  const runtime = createRuntime({
    random: () => 0.5,
    ...rest,
    env: { ...environment(environmentKeys, 'http://broker.example'), ...env },
    now: () => clock.ms,
    fetch: async (input, init = {}) => {
      calls.push({ url: String(input), init, atMs: clock.ms });
      return respond();
    },
  });
  return {
    runtime,
    clock,
    calls,
    pass: (seconds) => {
      clock.ms += seconds * 1000;
    },
    answer: (next) => {
      respond = next;
    },
    verdict: (compact) => verdictOf(runtime, compact),
  };
}

export async function verdictOf(runtime: Runtime, compact: string): Promise<string> {
  try {
    const { identity } = await runtime.authenticate(compact);
    return isPerson(identity) ? `person ${identity.subject}` : 'anonymous';
  } catch (error) {
    if (error instanceof IdentityRejectedError) return `${error.statusCode} ${error.reason}`;
    if (error instanceof IdentityUnavailableError) return `${error.statusCode} ${error.code}`;
    throw error;
  }
}

export const UNAVAILABLE = '503 APPLICATION_IDENTITY_NOT_READY';
export const UNKNOWN = '401 unknown-key';

/** A token that outlives every test here: an hour, the longest lifetime that is believed. */
export const hourLong = (key: SigningKey, sub = 'ana-0001'): string =>
  token(key, { sub, exp: NOW_MS / 1000 + 3_600 });

let junkCount = 0;

/** A well-formed token, valid for an hour, of a key ID nobody has published; each call another one. */
export function junk(key: SigningKey): string {
  junkCount += 1;
  return token(key, { exp: NOW_MS / 1000 + 3_600 }, { kid: `junk-${junkCount}` });
}

/** The next event of a kind; ask before what causes it. */
export function nextEvent<Name extends keyof RuntimeEvents>(name: Name): Promise<RuntimeEvents[Name]> {
  return new Promise((resolve) => {
    const listener = (message: unknown): void => {
      unsubscribe(name, listener);
      resolve(message as RuntimeEvents[Name]);
    };
    subscribe(name, listener);
  });
}

/** Collects events of a kind until stopped. */
export function collectEvents<Name extends keyof RuntimeEvents>(
  name: Name,
): { readonly events: RuntimeEvents[Name][]; stop(): void } {
  const events: RuntimeEvents[Name][] = [];
  const listener = (message: unknown): void => {
    events.push(message as RuntimeEvents[Name]);
  };
  subscribe(name, listener);
  return { events, stop: () => unsubscribe(name, listener) };
}

/** An answer that is given when the test says so. */
export function held(): { promise: Promise<Response>; release(response: Response): void } {
  let release: (response: Response) => void = () => undefined;
  const promise = new Promise<Response>((resolve) => {
    release = resolve;
  });
  return { promise, release };
}

/** Lets everything that is ready to run, run. */
export const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
