import { channel } from 'node:diagnostics_channel';
import type { EndReason } from './ends.js';

/** Why an upgrade was refused before it became a WebSocket. */
export type RefusalCause =
  | 'going-away'
  | 'too-many-relays'
  | 'network'
  | 'origin'
  | 'identity'
  | 'identity-unavailable'
  | 'anonymous'
  | 'late'
  | 'handshake';

/** What is published on the diagnostics channel `nn-runtime:nyxdb-edge`: names, counts and durations, never a token or a claim. */
export type EdgeEvent =
  /** An upgrade was refused with this HTTP status. */
  | { readonly name: 'upgrade-refused'; readonly cause: RefusalCause; readonly statusCode: number }
  /** A relay carries frames; `durationMs` since the upgrade request. */
  | { readonly name: 'relay-ready'; readonly durationMs: number }
  /** A relay ended; `client-closed` when its client did it. `requests` and `responses` were passed on. */
  | {
      readonly name: 'relay-ended';
      readonly reason: EndReason | 'client-closed';
      readonly durationMs: number;
      readonly requests: number;
      readonly responses: number;
    };

const events = channel('nn-runtime:nyxdb-edge');

/** Publishes an event, if anybody listens. */
export function publish(event: EdgeEvent): void {
  if (events.hasSubscribers) events.publish(event);
}
