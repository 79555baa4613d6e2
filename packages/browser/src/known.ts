import { announce } from './channel.js';
import { cameFromSignIn } from './loop.js';
import type { Session } from './shape.js';

/** Called with the session as it is now. */
export type SessionListener = (session: Session) => void;

export const listeners = new Set<SessionListener>();

let known: string | undefined;
let newest = 0;
let asked = 0;

/** A number for a question about to be asked, so that a slow answer to an older one is not taken for news. */
export const nextTurn = (): number => ++asked;

/**
 * Why the platform was asked: the application did (`asked`), the page checked by itself (`checked`), or a tab said that the
 * session changed (`hinted`).
 */
export type Reason = 'asked' | 'checked' | 'hinted';

/**
 * Remembers the session this page saw last, and tells listeners and tabs when it is another one. The first one is news only
 * when the application did not ask for it: otherwise it has it already.
 */
export const note = (session: Session, turn: number, reason: Reason): void => {
  if (turn < newest) return;
  newest = turn;
  const seen = JSON.stringify(session);
  const first = known === undefined;
  const changed = seen !== known && (!first || reason !== 'asked');
  // A page that just came back from sign-in is the only one that can tell the other tabs.
  const isNews = first ? cameFromSignIn() : changed;
  known = seen;
  // Whoever was hinted does not hint on: tabs would answer each other.
  if (isNews && reason !== 'hinted') announce();
  if (!changed) return;
  // Each in its own microtask: a listener that throws is reported by the page and stops neither the others nor the caller.
  for (const listener of listeners) queueMicrotask(() => listeners.has(listener) && listener(session));
};
