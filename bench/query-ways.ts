/** Ways of reading the broker's answer. */

import { JSONParse } from 'json-with-bigint';
import { parse as losslessParse } from 'lossless-json';

interface ResultModule {
  readResult(body: Uint8Array): { columns: { name: string }[]; rows: unknown[][]; objects(): object[] };
}

// The built file: decoding alone, without the call around it.
const built = new URL('result.js', import.meta.resolve('@nn-runtime/core'));
export const { readResult } = (await import(built.href)) as ResultModule;

const textOf = (body: Uint8Array): string => new TextDecoder('utf-8', { fatal: true }).decode(body);

/** A body → its rows, decoded as far as the way decodes. The first is what the others are measured against. */
export const WAYS: Readonly<Record<string, (body: Uint8Array) => unknown>> = {
  'JSON.parse alone (rounds)': (body) => JSON.parse(textOf(body)),
  '@nn-runtime/core, decoded by type': (body) => readResult(body),
  'lossless-json': (body) => losslessParse(textOf(body)),
  'json-with-bigint': (body) => JSONParse(textOf(body)),
};
