import { channel } from 'node:diagnostics_channel';
import type { RefusalReason } from './errors.js';
import type { KeyFetchProblem } from './key-fetch.js';
import type { KeySetProblem } from './key-set.js';

/** What is published on `node:diagnostics_channel`, by channel name. No message holds SQL, a token, a key ID or a claim. */
export interface RuntimeEvents {
  /** A person was verified; `cached` when the signature was checked for another request: before, or at the same time. */
  'nn-runtime:identity.verified': { readonly cached: boolean };
  /** An identity was refused, or could not be checked. */
  'nn-runtime:identity.refused': { readonly reason: RefusalReason; readonly statusCode: number };
  /** The broker was asked for its keys. `keys` counts the usable ones of a good answer. */
  'nn-runtime:keys.refreshed':
    | { readonly outcome: 'ok'; readonly keys: number; readonly milliseconds: number }
    | { readonly outcome: 'failed'; readonly problem: KeyFetchProblem; readonly milliseconds: number };
  /** A key set holds something that is left out. */
  'nn-runtime:keys.warning': { readonly source: 'environment' | 'broker'; readonly problem: KeySetProblem };
  /** A query of a person ended: `code` is `OK` or an error code, `status` the HTTP status that stands for it. */
  'nn-runtime:query': {
    readonly status: number;
    readonly code: string;
    readonly rows: number;
    readonly bytes: number;
    readonly milliseconds: number;
  };
}

const channels = {
  'nn-runtime:identity.verified': channel('nn-runtime:identity.verified'),
  'nn-runtime:identity.refused': channel('nn-runtime:identity.refused'),
  'nn-runtime:keys.refreshed': channel('nn-runtime:keys.refreshed'),
  'nn-runtime:keys.warning': channel('nn-runtime:keys.warning'),
  'nn-runtime:query': channel('nn-runtime:query'),
} satisfies Record<keyof RuntimeEvents, unknown>;

/** Publishes an event, if anybody listens. */
export function publish<Name extends keyof RuntimeEvents>(name: Name, event: RuntimeEvents[Name]): void {
  const target = channels[name];
  if (target.hasSubscribers) target.publish(event);
}
