/**
 * Refuses a wrong argument or option. The message names it and never quotes it: it may be a token or data.
 *
 * @throws TypeError unless `holds`.
 */
export function must(holds: unknown, message: string): asserts holds {
  if (!holds) throw new TypeError(message);
}
