/** Retry-After of an answer (RFC 9110 section 10.2.3) → seconds. */

// About sixty-eight years: whatever a broker asks for, the number stays one of plain digits.
const LONGEST_SECONDS = 2_147_483_647;

// IMF-fixdate, the one form that a server writes (RFC 9110 section 5.6.7). Date.parse alone takes far more.
const HTTP_DATE = /^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/;

/**
 * What an answer asks to wait, in whole seconds, at most 2,147,483,647; undefined when it asks for nothing that can be read.
 *
 * @param headers of the answer. A moment is counted from its own Date, so that the two clocks need not agree.
 * @param nowMs what a moment is counted from where the answer has no Date, in milliseconds since the epoch.
 */
export function retryAfterSeconds(
  headers: { get(name: string): string | null },
  nowMs: number,
): number | undefined {
  const value = headers.get('retry-after');
  if (value === null) return undefined;
  if (/^\d+$/.test(value)) return Math.min(Number(value), LONGEST_SECONDS);
  const momentMs = epochMsOf(value);
  if (momentMs === undefined) return undefined;
  const seconds = Math.ceil((momentMs - (epochMsOf(headers.get('date') ?? '') ?? nowMs)) / 1_000);
  return Math.min(Math.max(seconds, 0), LONGEST_SECONDS);
}

function epochMsOf(text: string): number | undefined {
  const epochMs = HTTP_DATE.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(epochMs) ? undefined : epochMs;
}
