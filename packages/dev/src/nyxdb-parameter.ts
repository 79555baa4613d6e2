import type { NyxdbType } from './nyxdb-message.js';

export const nyxdbTypes = ['VARCHAR', 'BIGINT', 'DOUBLE', 'BOOLEAN', 'DATE', 'TIMESTAMP'] as const;

const bigintLimit = 2n ** 63n;

/**
 * Whether a text is a value of a type. The contract says that parameters "are text on this wire path and are validated
 * against the endpoint signature", and no more: the spellings are ours.
 */
export function isText(type: NyxdbType, text: string): boolean {
  switch (type) {
    case 'VARCHAR':
      return true;
    case 'BIGINT':
      return /^-?\d{1,19}$/.test(text) && BigInt(text) < bigintLimit && BigInt(text) >= -bigintLimit;
    case 'DOUBLE':
      return /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(text) && Number.isFinite(Number(text));
    case 'BOOLEAN':
      return text === 'true' || text === 'false';
    case 'DATE':
      return /^\d{4}-\d\d-\d\d$/.test(text) && isDay(text);
    case 'TIMESTAMP':
      return (
        /^\d{4}-\d\d-\d\d[T ]([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d{1,3})?$/.test(text) &&
        isDay(text.slice(0, 10))
      );
  }
}

/** February 30 parses in JavaScript, as March 1 or 2. */
function isDay(text: string): boolean {
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}
