import type { Outcome, ProfileName } from './errors.js';
import type { Table, TsvLimits, TsvRules } from './tsv.js';

/** What an error text of the engine stands for. */
export interface ProfileError {
  /**
   * `auth-failed`, `auth-revoked` and `busy` are acted on by the client; any other word becomes the `reason` of an
   * `APPLICATION_ERROR`.
   */
  readonly reason: string;
  /** What became of the request. */
  readonly outcome: Outcome;
}

/** How wire-v2 capabilities are asked for (operation 0x0F). The contract does not publish the payload or its answer. */
export interface CapabilityCodec {
  /** The payload of operation 0x0F. */
  readonly payload: Uint8Array;
  /** Whether this answer lets the connection go on to authentication. */
  accepts(status: number, payload: Uint8Array): boolean;
}

/** One change of a maintained result, at a position: `+` inserts a row there, `~` replaces it, `-` removes it. */
export interface Delta {
  readonly op: '+' | '-' | '~';
  /** From 0, in the rows as the change before left them. */
  readonly index: number;
  /** The new row; of a removal it is not looked at. */
  readonly row: string[];
}

/** What the contract leaves out of subscriptions: the status table and the bodies of snapshots and deltas. */
export interface SubscriptionProfile {
  /** What each status means on a subscription, beside 0x01. Any other is a violation. */
  readonly statuses: Readonly<Record<number, 'snapshot' | 'delta' | 'end'>>;
  /** Reads a snapshot's body, typed or text. @throws FrameError */
  readSnapshot(payload: Uint8Array, limits: TsvLimits): Table;
  /** Reads a delta's body; indexes are sequential, each after the line before it. @throws FrameError for its grammar. */
  readDeltas(payload: Uint8Array): Delta[];
}

/** Everything about an engine that the contract does not publish. Plain, frozen, and the only place for it. */
export interface EngineProfile extends ProfileName {
  /** The operator's pinned engine build, such as `engine 7f3c1e2`. */
  readonly revision: string;
  /** Where the facts come from: the published page, a recorded engine, or this project's own development engine. */
  readonly provenance: 'documented' | 'captured' | 'development';
  /** How bodies of tab-separated text end. */
  readonly tsv: TsvRules;
  /** Error texts, matched whole after removing at most one final LF. */
  readonly errors: Readonly<Record<string, ProfileError>>;
  /** Absent: operation 0x0F is never sent. */
  readonly capability?: CapabilityCodec | undefined;
  /** Absent: `subscribe()` is refused before a socket opens. */
  readonly subscription?: SubscriptionProfile | undefined;
}

/** Error texts behind one prefix, each with its own words as reason. Internal. */
export const errorTexts = (
  prefix: string,
  outcome: Outcome,
  ...texts: string[]
): Record<string, ProfileError> =>
  Object.fromEntries(texts.map((text) => [prefix + text, { reason: text.replaceAll(' ', '-'), outcome }]));

const busy: ProfileError = { reason: 'busy', outcome: 'not-run' };

/**
 * What the page "Browser and platform endpoint clients" states, and nothing else: authentication, execute, cancel,
 * revocation, five error texts. The status table of subscriptions is missing there, so `subscribe()` is refused.
 */
export const documentedProfile: EngineProfile = Object.freeze({
  revision: 'documented 2026-11-30',
  provenance: 'documented',
  tsv: Object.freeze({ finalLf: 'optional' }),
  errors: Object.freeze({
    ...errorTexts('', 'unknown', 'auth failed', 'auth revoked'),
    ...errorTexts('', 'not-run', 'invalid parameter'),
    'server busy: query admission rejected': busy,
    'server busy: query admission timed out': busy,
  }),
});
