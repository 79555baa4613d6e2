import { BodyTooLargeError, readBody } from './body.js';
import type { HttpClient } from './http-client.js';
import { type KeySet, readKeySet } from './key-set.js';
import { MAX_KEY_SET_BYTES } from './wire.js';

/** Why an answer to the question for keys was not used. Safe to log. */
export type KeyFetchProblem =
  | 'unreachable'
  | 'timeout'
  | 'status'
  | 'too-large'
  | 'not-a-key-set'
  | 'no-usable-key'
  | 'closed';

/** A fetch that gave no usable keys. Stays inside the key store, which only tells its problem. */
export class KeyFetchError extends Error {
  readonly problem: KeyFetchProblem;

  constructor(problem: KeyFetchProblem) {
    super(`the key set could not be had: ${problem}`);
    this.problem = problem;
  }
}

/** What one fetch of a key set needs. */
export interface KeyFetchOptions {
  readonly url: string;
  readonly fetch: HttpClient;
  /** Deadline for headers and body together, in milliseconds. */
  readonly timeoutMs: number;
  /** Ends the fetch when the runtime closes. It is never a request's own signal: its caller may go away, others wait too. */
  readonly signal: AbortSignal;
}

/**
 * Asks once for a key set.
 * @throws KeyFetchError whatever went wrong, by the deadline at the latest, even when `fetch` never settles.
 */
export async function fetchKeySet(options: KeyFetchOptions): Promise<KeySet> {
  const controller = new AbortController();
  let stop: (problem: KeyFetchProblem) => void = () => undefined;
  const ended = new Promise<never>((_resolve, reject) => {
    stop = (problem) => reject(new KeyFetchError(problem));
  });
  ended.catch(() => undefined);
  const timer = setTimeout(() => stop('timeout'), options.timeoutMs);
  // A refresh must not keep an otherwise finished process alive.
  timer.unref();
  const onClose = (): void => stop('closed');
  if (options.signal.aborted) onClose();
  else options.signal.addEventListener('abort', onClose, { once: true });
  try {
    return await Promise.race([ended, ask(options, controller.signal)]);
  } catch (error) {
    throw error instanceof KeyFetchError ? error : new KeyFetchError('unreachable');
  } finally {
    clearTimeout(timer);
    options.signal.removeEventListener('abort', onClose);
    // Ends what still runs, or a body nobody read, and with it the connection; what was read to its end is not touched.
    controller.abort();
  }
}

async function ask(options: KeyFetchOptions, signal: AbortSignal): Promise<KeySet> {
  const response = await options.fetch(options.url, {
    headers: { accept: 'application/json' },
    // Keys come from the configured address and from nowhere it points to.
    redirect: 'error',
    signal,
  });
  if (response.status !== 200) throw new KeyFetchError('status');
  const body = await readBody(response, MAX_KEY_SET_BYTES).catch((error: unknown) => {
    throw new KeyFetchError(error instanceof BodyTooLargeError ? 'too-large' : 'unreachable');
  });
  const set = readKeySet(body);
  if (set === undefined) throw new KeyFetchError('not-a-key-set');
  if (set.keys.size === 0) throw new KeyFetchError('no-usable-key');
  return set;
}
