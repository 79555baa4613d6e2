import { SignInLoopError } from './errors.js';

// Single sign-on answers without asking, so a page that keeps asking for sign-in would spin for ever. Three are more than a
// person's ordinary minute has, signing out and in again included.
const KEY = 'nn-runtime.sign-in';
const WINDOW_MS = 60_000;
const MAX_STARTS = 3;

// The times (ms since the epoch) of this tab's recent sign-ins. Anything may have written there: only sane numbers count.
const recent = (): number[] => {
  const now = Date.now();
  const times = (sessionStorage.getItem(KEY) ?? '').split(',').map(Number);
  return times.filter((time) => time > now - WINDOW_MS && time <= now);
};

/** Whether this tab went to sign-in a moment ago. */
export const cameFromSignIn = (): boolean => {
  try {
    return recent().length > 0;
  } catch {
    return false;
  }
};

/** Counts a sign-in about to start. @throws SignInLoopError when it is one too many. */
export const countSignIn = (): void => {
  try {
    const times = recent();
    if (times.length < MAX_STARTS) {
      sessionStorage.setItem(KEY, [...times, Date.now()].join());
      return;
    }
  } catch {
    // The browser refuses storage where it refuses cookies, and without a cookie no sign-in ever succeeds: the one place
    // sure to loop is the one that cannot count.
  }
  throw new SignInLoopError();
};

/** Starts counting anew: signing out is an act of the person. */
export const forgetSignIns = (): void => {
  try {
    sessionStorage.removeItem(KEY);
  } catch {
    // Nothing was kept.
  }
};
