import { setMaxListeners } from 'node:events';
import type { QueryMesh } from './query.js';

/** The part of Node's `ServerResponse`, and of HTTP/2's, that tells when a request is over. */
export interface ResponseEnd {
  readonly closed?: boolean | undefined;
  readonly destroyed?: boolean | undefined;
  /** Only HTTP/2 responses have one, and it alone tells there: they have neither `closed` nor `destroyed` themselves. */
  readonly stream?: { readonly closed: boolean } | undefined;
  once(event: 'close', listener: () => void): unknown;
}

/**
 * Ties queries to a response: once it is closed, because the client went away or the answer is complete, they end with
 * QUERYMESH_ABORTED (design Q4). For adapters; a job that outlives its request uses `(await runtime.authenticate(header)).queryMesh`.
 */
export function endWithResponse(queryMesh: QueryMesh, response: ResponseEnd): QueryMesh {
  let over: AbortController | undefined;
  const overSignal = (): AbortSignal => {
    if (over === undefined) {
      const controller = new AbortController();
      const end = (): void => controller.abort(new Error('the response is closed'));
      const { closed, destroyed, stream } = response;
      if (closed === true || destroyed === true || stream?.closed === true) end();
      else response.once('close', end);
      over = controller;
    }
    return over.signal;
  };
  return (sql, options) => {
    const own = options?.signal;
    if (own === undefined) return queryMesh(sql, { ...options, signal: overSignal() });
    // Anything else is refused as an argument, by the query itself.
    if (!(own instanceof AbortSignal)) return queryMesh(sql, options);
    const either = firstOf(own, overSignal());
    return queryMesh(sql, { ...options, signal: either.signal }).finally(either.release);
  };
}

// AbortSignal.any keeps a listener on each of its signals for as long as that signal lives.
function firstOf(one: AbortSignal, other: AbortSignal): { signal: AbortSignal; release: () => void } {
  const controller = new AbortController();
  setMaxListeners(0, one, other);
  const pass = (event: Event): void => controller.abort((event.target as AbortSignal).reason);
  for (const signal of [one, other]) {
    if (signal.aborted) controller.abort(signal.reason);
    else signal.addEventListener('abort', pass, { once: true });
  }
  return {
    signal: controller.signal,
    release: () => {
      for (const signal of [one, other]) signal.removeEventListener('abort', pass);
    },
  };
}
