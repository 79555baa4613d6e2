import type { EndpointErrorCode } from './errors.js';

/** What a client tells its observer: names, counts and durations (milliseconds), never a token, a parameter or a cell. */
export type ClientEvent =
  /** A socket is open and authenticated. */
  | { readonly name: 'socket-ready' }
  /** A socket that was open, or opening, ended. `code`: why, when it was not on purpose. */
  | {
      readonly name: 'socket-ended';
      readonly code: EndpointErrorCode | undefined;
    }
  /** A call is done. `code`: why it failed; undefined for rows, and for a wrong argument. `sends`: how often it was sent. */
  | {
      readonly name: 'call-ended';
      readonly durationMs: number;
      readonly code: EndpointErrorCode | undefined;
      readonly sends: number;
    }
  /** The engine had no room; the call is sent again after `delayMs`. */
  | { readonly name: 'call-delayed'; readonly delayMs: number; readonly sends: number }
  /** The engine was asked to cancel: it found the request, did not, or could not be asked. */
  | { readonly name: 'cancel'; readonly result: 'requested' | 'not-found' | 'failed' }
  /** A token was revoked: everything opened with it has ended. */
  | { readonly name: 'revoked' }
  /** A subscription has a snapshot, for the `generation`th time. */
  | { readonly name: 'subscription-live'; readonly generation: number; readonly rows: number }
  /** A subscription comes back after `delayMs`. */
  | { readonly name: 'subscription-retry'; readonly code: EndpointErrorCode; readonly delayMs: number }
  /** A subscription ended, on purpose (no code) or for good. */
  | { readonly name: 'subscription-ended'; readonly code: EndpointErrorCode | undefined };
