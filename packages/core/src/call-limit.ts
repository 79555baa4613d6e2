import { setMaxListeners } from 'node:events';
import { QueryMeshError } from './errors.js';
import type { QueryRequest } from './query.js';

/** Deadline, the caller's signal and the runtime's end, in one. */
export interface CallLimit {
  /** Given to fetch. */
  readonly signal: AbortSignal;
  /** Rejects when the call is over, even if fetch does not listen to its signal. */
  readonly passed: Promise<never>;
  /** Why the call is over, if it is. */
  reason(): QueryMeshError | undefined;
  release(): void;
}

// AbortSignal.any would keep listeners on a long-lived signal.
/** Starts the clock of a call. `release` must be called when the call is over. */
export function limitCall(request: QueryRequest, closing: AbortSignal): CallLimit {
  const controller = new AbortController();
  let reason: QueryMeshError | undefined;
  let reject: (error: QueryMeshError) => void = () => undefined;
  const passed = new Promise<never>((_resolve, rejectPassed) => {
    reject = rejectPassed;
  });
  passed.catch(() => undefined);
  const end = (error: QueryMeshError): void => {
    if (reason !== undefined) return;
    reason = error;
    reject(error);
    controller.abort();
  };
  const onAbort = (): void => end(new QueryMeshError('QUERYMESH_ABORTED', { cause: request.signal?.reason }));
  const onClosing = (): void => end(new QueryMeshError('QUERYMESH_ABORTED', { cause: closing.reason }));
  const timer = setTimeout(() => end(new QueryMeshError('QUERYMESH_TIMEOUT')), request.timeoutMs);
  // Many queries under one signal are no leak: each takes its listener back.
  setMaxListeners(0, closing, ...(request.signal === undefined ? [] : [request.signal]));
  request.signal?.addEventListener('abort', onAbort, { once: true });
  closing.addEventListener('abort', onClosing, { once: true });
  return {
    signal: controller.signal,
    passed,
    reason: () => reason,
    release() {
      clearTimeout(timer);
      request.signal?.removeEventListener('abort', onAbort);
      closing.removeEventListener('abort', onClosing);
    },
  };
}
