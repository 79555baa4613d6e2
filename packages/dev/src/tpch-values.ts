/** SQL expressions for made-up values: integer arithmetic on a key, never `random()` or `hash()`. */

/** A number from 0 to `below` − 1 that looks unrelated to the key; another `salt`, another number. */
export function mix(key: string, salt: number, below: number): string {
  return `(((((${key})::BIGINT * 40503 + ${salt} * 7919) % 1000003) * 69621 + ${salt} * 104729) % 2147483647 // 7 % ${below})`;
}

/** One of the texts. */
export function pick(key: string, salt: number, texts: readonly string[]): string {
  return `[${texts.map((text) => `'${text}'`).join(', ')}][1 + ${mix(key, salt, texts.length)}]`;
}

/** Expressions joined as text. */
export function join(separator: string, parts: readonly string[]): string {
  return parts.join(` || ${separator} || `);
}

/** A key with leading zeros. */
export function digits(key: string, width: number): string {
  return `lpad((${key})::VARCHAR, ${width}, '0')`;
}

/** A price from whole cents: TPC-H prices are doubles in Trino. */
export function cents(expression: string): string {
  return `(${expression})::DOUBLE / 100.0::DOUBLE`;
}

/** An address of letters and digits. */
export function address(key: string, salt: number): string {
  return join("' '", [
    `(1 + ${mix(key, salt, 999)})`,
    pick(key, salt + 100, streets),
    pick(key, salt + 200, ways),
  ]);
}

/** A comment of a few words. */
export function comment(key: string, salt: number): string {
  return join("' '", [
    pick(key, salt + 300, adverbs),
    pick(key, salt + 400, adjectives),
    pick(key, salt + 500, nouns),
    pick(key, salt + 600, verbs),
  ]);
}

const streets = [
  'Cedar',
  'Harbour',
  'Juniper',
  'Lake',
  'Market',
  'Mill',
  'Orchard',
  'River',
  'Station',
  'Willow',
];
const ways = ['Avenue', 'Lane', 'Road', 'Row', 'Square', 'Street'];
const adverbs = ['blithely', 'carefully', 'daringly', 'evenly', 'furiously', 'quickly', 'quietly', 'slyly'];
const adjectives = ['bold', 'even', 'express', 'final', 'ironic', 'pending', 'regular', 'silent', 'special'];
const nouns = [
  'accounts',
  'deposits',
  'foxes',
  'ideas',
  'packages',
  'pinto beans',
  'requests',
  'theodolites',
];
const verbs = ['are', 'boost', 'cajole', 'detect', 'haggle', 'integrate', 'nag', 'sleep', 'use', 'wake'];
