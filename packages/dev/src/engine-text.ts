/**
 * DuckDB's Node library reads every text with one TextDecoder, which drops a leading U+FEFF: for a file that is a mark, in a value it is a
 * character, and Trino sends it. Importing this file makes that decoder keep it; only the engines' own processes do.
 */

import { createRequire } from 'node:module';

// The library has no other place for it, and none for the bytes of a text. Its version is pinned, and a test asks for the character.
// Required, not imported: the declarations of this file need the types of a browser.
const { textDecoder } = createRequire(import.meta.url)('@duckdb/node-api/lib/vectors/dataAccessors.js') as {
  textDecoder: object;
};
const exact = new TextDecoder('utf-8', { ignoreBOM: true });

Object.defineProperty(textDecoder, 'decode', { value: (bytes: Uint8Array) => exact.decode(bytes) });
