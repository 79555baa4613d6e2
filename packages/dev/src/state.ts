import { createJournal, type Exchange, type Journal } from './journal.js';
import { createKeys, type Keys } from './keys.js';
import type { DevPerson } from './people.js';
import { createSessions, type Sessions } from './sessions.js';

/** The organization of a local platform. */
export interface DevOrganization {
  readonly id: string;
  readonly slug: string;
}

/** How a part of the broker behaves: `slow` answers after ten seconds, `garbage` is a proxy's HTML page. */
export type Condition = 'up' | 'down' | 'slow' | 'garbage';

/**
 * How the organization's QueryMesh behaves behind the broker: `down` does not answer, `slow` answers after ten seconds,
 * `garbage` answers outside its protocol, `rejects` does not accept the token of who signed in.
 */
export type QueryMeshCondition = Condition | 'rejects';

/** What is wrong with the platform just now; the starting values are those of a healthy one. */
export interface Faults {
  broker: Condition;
  jwks: Condition;
  /** Whether the broker has its keys; without them it can check no identity and publish none. */
  brokerKeys: boolean;
  queryMesh: QueryMeshCondition;
  /** The organization has configured its QueryMesh. */
  integration: boolean;
  /** The application has turned its QueryMesh capability on. */
  capability: boolean;
  /** Whom the organization's data policies deny every query: emails, user names or subjects. */
  deny: readonly string[];
  /** How far the platform's clock is ahead of the real one, in seconds. */
  clockOffsetSeconds: number;
}

/** What every part of one platform shares. */
export interface PlatformState {
  readonly issuer: string;
  readonly organization: DevOrganization;
  readonly people: readonly DevPerson[];
  readonly appIds: readonly string[];
  readonly keys: Keys;
  readonly sessions: Sessions;
  readonly faults: Faults;
  readonly journal: Journal;
  /** The platform's clock, in milliseconds since the epoch, with the clock fault in it. */
  nowMs(): number;
}

export async function createState({
  organization,
  people,
  appIds,
  now,
  onExchange,
}: {
  organization: DevOrganization;
  people: readonly DevPerson[];
  appIds: readonly string[];
  now: () => number;
  onExchange: (exchange: Exchange) => void;
}): Promise<PlatformState> {
  const faults: Faults = {
    broker: 'up',
    jwks: 'up',
    brokerKeys: true,
    queryMesh: 'up',
    integration: true,
    capability: true,
    deny: [],
    clockOffsetSeconds: 0,
  };
  return {
    // Not an address: nothing is ever fetched from an issuer's name, and this one must not depend on ports.
    issuer: 'https://identity.nnumbers.localhost',
    organization,
    people,
    appIds,
    keys: await createKeys(),
    // Sessions keep the real clock: a clock fault is about identities, and must not sign everybody out.
    sessions: createSessions(now),
    faults,
    journal: createJournal(onExchange, now),
    nowMs: () => now() + faults.clockOffsetSeconds * 1000,
  };
}
