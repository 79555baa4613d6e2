/** What is known of the live connection. */
export type Connection =
  | { readonly state: 'signed-out'; readonly wasRevoked: boolean }
  | { readonly state: 'connecting'; readonly attempts: number }
  | { readonly state: 'live' }
  /** The rows are those of before `sinceMs` (since the epoch). */
  | { readonly state: 'stale'; readonly sinceMs: number }
  /** Access was withdrawn, and whoever it was withdrawn from may still be signed in. */
  | { readonly state: 'revoked' }
  /** The engine ended the stream on purpose. */
  | { readonly state: 'ended' }
  /** Given up for good. */
  | { readonly state: 'failed'; readonly code: string };

/** What changes it: who is signed in, and what the NYXDB client tells of its subscription. Other events of the client change nothing. */
export type ConnectionEvent =
  | { readonly name: 'signed-out' | 'opened' }
  | { readonly name: 'subscription-live' }
  | { readonly name: 'subscription-retry'; readonly code: string }
  | { readonly name: 'subscription-ended'; readonly code: string | undefined };

export const signedOut: Connection = { state: 'signed-out', wasRevoked: false };

/** The connection after an event. */
export function next(connection: Connection, event: ConnectionEvent, nowMs: number): Connection {
  switch (event.name) {
    case 'signed-out':
      // The revocation is why: whoever watched is told, and not only that they are out.
      return { state: 'signed-out', wasRevoked: connection.state === 'revoked' };
    case 'opened':
      return { state: 'connecting', attempts: 1 };
    case 'subscription-live':
      return { state: 'live' };
    case 'subscription-retry':
      if (connection.state === 'live') return { state: 'stale', sinceMs: nowMs };
      if (connection.state === 'connecting') return { ...connection, attempts: connection.attempts + 1 };
      return connection;
    case 'subscription-ended':
      if (event.code === undefined) return { state: 'ended' };
      return event.code === 'AUTH_REVOKED' ? { state: 'revoked' } : { state: 'failed', code: event.code };
  }
}

/** A connection in words: one for its state, a sentence for what it means. */
export function describe(connection: Connection): { readonly word: string; readonly sentence: string } {
  switch (connection.state) {
    case 'signed-out':
      return {
        word: 'Signed out',
        sentence: connection.wasRevoked
          ? 'Your access was withdrawn while you were watching. Sign in to follow your fills again.'
          : 'Sign in to follow your fills.',
      };
    case 'connecting':
      return {
        word: 'Connecting',
        sentence:
          connection.attempts === 1
            ? 'Waiting for the first rows.'
            : 'NYXDB could not be reached yet. Trying again by itself.',
      };
    case 'live':
      return { word: 'Live', sentence: 'Rows change here as they change in NYXDB.' };
    case 'stale':
      return {
        word: 'Stale',
        sentence: `The connection was lost at ${new Date(connection.sinceMs).toLocaleTimeString()}. These rows may be out of date; connecting again by itself.`,
      };
    case 'revoked':
      return { word: 'Withdrawn', sentence: 'Your access was withdrawn while you were watching.' };
    case 'ended':
      return { word: 'Ended', sentence: 'NYXDB ended this stream.' };
    case 'failed':
      return { word: 'Failed', sentence: `NYXDB could not be followed (${connection.code}).` };
  }
}
