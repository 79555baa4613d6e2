import type { RuntimeOptions } from '@nn-runtime/core';
import t, { type Test } from 'tap';

/** The two ways to the broker: what is true of one must be true of the other. */
export const clients: readonly { readonly name: string; readonly options: RuntimeOptions }[] = [
  { name: 'its own connections', options: {} },
  { name: 'a fetch that is handed in', options: { fetch: globalThis.fetch } },
];

/** One sentence about the runtime, tested over each client. Its options belong into `createRuntime`. */
export function overEach(sentence: string, body: (t: Test, client: RuntimeOptions) => Promise<void>): void {
  for (const { name, options } of clients) t.test(`${sentence} (${name})`, (t) => body(t, options));
}
