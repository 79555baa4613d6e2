import type { NyxdbEndpoint, NyxdbView, Provider, SessionRow } from './nyxdb-definition.js';
import type { DevPerson } from './people.js';

/** What an engine has when nothing else is said: the table `fills`, over which the contract's own example runs. */

const instruments = ['BTC-USD', 'ETH-USD', 'SOL-USD'];
const fillsPerPerson = 9;

const quote = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** The values of one fill; a function of its number, so that every start has the same. */
function fill(id: number, userId: string): string {
  const instrument = instruments[id % instruments.length] ?? '';
  const price = [64_000, 3_100, 140][id % 3] ?? 0;
  const minutes = String(id % 60).padStart(2, '0');
  const cells = [
    id,
    quote(userId),
    quote(instrument),
    quote(id % 2 === 0 ? 'buy' : 'sell'),
    `${1 + (id % 7)}.${25 * (id % 4)}`,
    price + ((id * 37) % 100),
    `'2026-11-30 09:${minutes}:00'`,
  ];
  return `(${cells.join(', ')})`;
}

/** The statements that make and fill `fills`: nine rows for each person, three for each instrument. */
export function exampleTables(people: readonly DevPerson[]): string[] {
  const rows = people.flatMap(({ sub }, person) =>
    Array.from({ length: fillsPerPerson }, (_, index) => fill(person * fillsPerPerson + index + 1, sub)),
  );
  return [
    `CREATE TABLE fills (
      fill_id BIGINT, user_id VARCHAR, instrument VARCHAR, side VARCHAR,
      quantity DECIMAL(18, 4), price DECIMAL(18, 2), executed_at TIMESTAMP
    )`,
    `INSERT INTO fills VALUES ${rows.join(', ')}`,
  ];
}

const select = 'SELECT fill_id, instrument, side, quantity, price, executed_at FROM fills';
const instrument = { name: 'instrument', type: 'VARCHAR' } as const;

export const exampleEndpoints: readonly NyxdbEndpoint[] = [
  {
    name: 'my_fills',
    using: 'app_sessions',
    parameters: [instrument],
    claims: ['user_id'],
    sql: `${select} WHERE user_id = $user_id AND instrument = $instrument ORDER BY fill_id`,
  },
  {
    name: 'my_fills_live',
    using: 'app_sessions',
    parameters: [instrument],
    claims: ['user_id'],
    stream: true,
    sql: `${select} WHERE user_id = $user_id AND instrument = $instrument ORDER BY fill_id DESC`,
  },
];

export const exampleViews: readonly NyxdbView[] = [
  {
    name: 'volumes',
    id: '7c1f4f0a-3a52-4c0e-9a35-0d1c6b1f2e01',
    sql: 'SELECT instrument, count(*) AS fills, sum(quantity) AS quantity FROM fills GROUP BY instrument ORDER BY instrument',
    grants: { member: ['read', 'subscribe'] },
  },
];

export const appSessions: Provider = {
  name: 'app_sessions',
  claims: { user_id: 'VARCHAR', tenant: 'VARCHAR', role: 'VARCHAR' },
};

/** What the provider `app_sessions` says of a person (ours). */
export function claimsOf(person: DevPerson, organizationId: string): Record<string, string> {
  return { user_id: person.sub, tenant: organizationId, role: 'member' };
}

/** A row for each person that does not change from start to start, for scripts that sign nobody in. */
export const exampleSession = (person: DevPerson, organizationId: string): SessionRow => ({
  provider: 'app_sessions',
  token: `local-${person.preferred_username ?? person.sub}`,
  claims: claimsOf(person, organizationId),
});

/**
 * The `step`th change that keeps `my_fills_live` moving: twice a fill comes, then the newest changes, then the oldest
 * goes; for every person and instrument, so that whoever looks sees it.
 */
export function exampleTick(step: number, people: readonly DevPerson[]): string {
  const fills = people.flatMap(({ sub }, person) =>
    instruments.map((_, index) =>
      fill(99_999 + (step * people.length + person) * instruments.length + index, sub),
    ),
  );
  switch (step % 4) {
    case 2:
      return 'UPDATE fills SET price = price + 1 WHERE fill_id IN (SELECT max(fill_id) FROM fills GROUP BY user_id, instrument)';
    case 3:
      return 'DELETE FROM fills WHERE fill_id IN (SELECT min(fill_id) FROM fills GROUP BY user_id, instrument HAVING count(*) > 5)';
    default:
      return `INSERT INTO fills VALUES ${fills.join(', ')}`;
  }
}
