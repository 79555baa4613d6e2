import { listen } from './channel.js';
import { listeners, type Reason, type SessionListener } from './known.js';
import { askSession } from './session.js';

let stop: (() => void) | undefined;

// A check nobody asked for: when it fails, the page knows what it knew, and the next question will say so.
const check = (reason: Reason): void => {
  askSession(reason).catch(() => {});
};

const onLookedAt = (): void => {
  if (document.visibilityState === 'visible') check('checked');
};

// The back button can bring a page back from memory as it was before the sign-out.
const onShown = (event: PageTransitionEvent): void => {
  if (event.persisted) check('checked');
};

const start = (): (() => void) => {
  const unlisten = listen(() => check('hinted'));
  if (typeof document === 'undefined') return unlisten;
  document.addEventListener('visibilitychange', onLookedAt);
  addEventListener('pageshow', onShown);
  addEventListener('online', onLookedAt);
  return () => {
    unlisten();
    document.removeEventListener('visibilitychange', onLookedAt);
    removeEventListener('pageshow', onShown);
    removeEventListener('online', onLookedAt);
  };
};

/**
 * Calls `listener` when who is signed in is another than this page saw last: signed out or in by this tab or another, or found
 * ended. Checked when another tab says so, when the page is looked at again, when it comes back online or by the back button, and at each
 * `getSession` and `fetchWithSession` that asks the platform. The first `getSession` of a page is no change.
 *
 * @returns a function that ends it; calling it again does nothing.
 */
export const onSessionChange = (listener: SessionListener): (() => void) => {
  // One entry for each call, so that the same function given twice is ended one at a time.
  const entry: SessionListener = (session) => listener(session);
  listeners.add(entry);
  stop ??= start();
  return () => {
    if (!listeners.delete(entry) || listeners.size > 0) return;
    stop?.();
    stop = undefined;
  };
};
