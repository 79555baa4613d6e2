import { IDENTITY_HEADER } from './wire.js';

// How deep a request may lie in what is logged: itself, `{ req }`, `{ context: { req } }`.
const WHERE = ['', '*.', '*.*.'];

/**
 * Paths for pino's `redact` option (`Fastify({ logger: { redact: [...redactPaths] } })`) that keep the signed identity out of a log to which somebody gives a
 * request, whole or its headers: whoever reads it there could be that person for up to five minutes. pino's own and Fastify's serialisers of requests
 * leave the headers out or print them all, as they are set up. `rawHeaders` is left out whole, since it is a list by position.
 */
export const redactPaths: readonly string[] = Object.freeze([
  `["${IDENTITY_HEADER}"]`,
  ...WHERE.flatMap((at) => [`${at}headers["${IDENTITY_HEADER}"]`, `${at}rawHeaders`]),
]);
