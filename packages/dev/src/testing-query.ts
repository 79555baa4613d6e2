import type { DevPerson } from './people.js';

/** A query as the broker got it. It is kept for assertions; nothing writes it anywhere. */
export interface TestQuery {
  /** The SQL, byte for byte as it was sent. */
  readonly sql: string;
  /** The cap that counts: `max_rows` as it was sent, or the contract's default of 100,000. */
  readonly maxRows: number;
  /** Who asks, by the verified identity. */
  readonly person: DevPerson;
  /** All claims of the verified identity. */
  readonly claims: Readonly<Record<string, unknown>>;
}

/** Which queries: exactly this text, a pattern found in the text, or whatever a function says. */
export type SqlMatcher = string | RegExp | ((query: TestQuery) => boolean);

/** For which queries a prepared answer is, and how often. */
export interface Matching {
  /** Which queries; default all. */
  readonly sql?: SqlMatcher | undefined;
  /** How often, at least once; default always. */
  readonly times?: number | undefined;
}

/** What fits a query. */
export function matcher(sql: SqlMatcher | undefined): (query: TestQuery) => boolean {
  if (sql === undefined) return () => true;
  if (typeof sql === 'function') return sql;
  if (typeof sql === 'string') return (query) => query.sql === sql;
  // A sticky or global pattern remembers where it stopped, and would miss every other query.
  const pattern = new RegExp(sql.source, sql.flags.replace(/[gy]/g, ''));
  return (query) => pattern.test(query.sql);
}
