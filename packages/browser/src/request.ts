import { ForbiddenError, NetworkError, ProtocolError, SignedOutError } from './errors.js';

/** What every call to the platform may be given. */
export interface CallOptions {
  /** Gives the call up; the promise rejects with the signal's reason. Default: no limit of time; `AbortSignal.timeout(10_000)` sets one. */
  readonly signal?: AbortSignal | undefined;
}

/** Runs one step on the network. A failure that the caller did not ask for is a NetworkError. */
export const reach = async <T>(step: () => Promise<T>, signal?: AbortSignal | null): Promise<T> => {
  try {
    return await step();
  } catch (cause) {
    if (signal?.aborted) throw signal.reason;
    throw new NetworkError(cause);
  }
};

/**
 * Whether the answer is a redirect that was not followed. A browser hides its status and target ("opaque-redirect filtered
 * response", Fetch standard section 2.2.6); other runtimes show the status.
 */
export const isRedirect = (response: Response): boolean =>
  response.type === 'opaqueredirect' || [301, 302, 303, 307, 308].includes(response.status);

/** One call to a reserved path. Redirects are never followed: these paths belong to this address alone. */
export const call = (path: string, method: 'GET' | 'POST', options?: CallOptions): Promise<Response> =>
  reach(
    () =>
      fetch(new URL(path, location.origin), {
        method,
        // A session kept by a cache would outlive the sign-out.
        cache: 'no-store',
        redirect: 'manual',
        signal: options?.signal ?? null,
      }),
    options?.signal,
  );

/** Reads the JSON of a reserved path. 203 is its success (runtime protocol); the body is not checked yet. */
export const read = async (path: string, options?: CallOptions): Promise<[unverified: unknown, Response]> => {
  const response = await call(path, 'GET', options);
  if (response.status === 401) throw new SignedOutError(response);
  if (response.status === 403) throw new ForbiddenError(response);
  if (!response.ok) throw new ProtocolError(response);
  const text = await reach(() => response.clone().text(), options?.signal);
  try {
    return [JSON.parse(text), response];
  } catch {
    throw new ProtocolError(response);
  }
};
