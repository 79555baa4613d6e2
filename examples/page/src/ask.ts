import { fetchWithSession } from '@nn-runtime/browser';
import { explain, explainAnswer, type Failure } from './failure.js';

/** An answer, what hindered it, or nothing when it was given up. */
export type Asked<T> = { readonly answer: T } | { readonly failure: Failure } | undefined;

/** Asks the application for JSON, on behalf of whoever is signed in. */
export async function ask<T>(
  path: string,
  is: (unverified: unknown) => unverified is T,
  signal: AbortSignal,
): Promise<Asked<T>> {
  try {
    const response = await fetchWithSession(path, { signal });
    if (!response.ok) return { failure: await explainAnswer(response) };
    const unverified: unknown = await response.json();
    if (!is(unverified)) throw new TypeError(`${path} answered something else`);
    return { answer: unverified };
  } catch (error) {
    if (signal.aborted) return undefined;
    return { failure: await explain(error) };
  }
}
