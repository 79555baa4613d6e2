import {
  getSession,
  onSessionChange,
  type Session,
  type SessionUser,
  signIn,
  signOut,
} from '@nn-runtime/browser';
import { byId } from './element.js';
import { explain } from './failure.js';
import type { Part } from './part.js';

const nameOf = (user: SessionUser): string =>
  user.name ?? user.email ?? user.preferred_username ?? 'somebody without a name';

/** Shows who is signed in, here and as it changes, and starts and stops the parts with them. */
export function watchSession(parts: readonly Part[]): void {
  /** Whose data the parts show; undefined when nothing was shown yet. */
  let shown: string | null | undefined;
  let isSigningOut = false;

  function show({ user }: Session): void {
    const person = user && JSON.stringify(user);
    if (person === shown) return;
    const before = shown;
    const focused = document.activeElement;
    shown = person;
    for (const part of parts) part.stop();
    document.documentElement.dataset.session = user === null ? 'anonymous' : 'person';
    byId('who').textContent = user === null ? '' : nameOf(user);
    if (user !== null) for (const part of parts) part.start();
    // Gone with the data, or hidden: the keyboard goes on here, and not at the top of the page.
    if (focused !== null && focused.getClientRects().length === 0) byId('main').focus();
    if (before === undefined) return;
    if (user !== null) say(`Signed in as ${nameOf(user)}.`);
    else if (isSigningOut) say('You signed out.');
    else say('Your session has ended: you signed out in another tab, or the platform ended it.');
  }

  async function leave(): Promise<void> {
    isSigningOut = true;
    try {
      await signOut();
      // The button that had the focus is gone.
      byId('sign-in').focus();
    } catch (error) {
      const { message, advice } = await explain(error);
      say(`You may still be signed in. ${message} ${advice}`);
    } finally {
      isSigningOut = false;
    }
  }

  byId('sign-out').addEventListener('submit', (event) => {
    event.preventDefault();
    void leave();
  });
  for (const link of document.querySelectorAll('a[href^="/.nnumbers/auth/login"]'))
    link.addEventListener('click', (event) => {
      try {
        // Unlike the link alone, this lets the other tabs know afterwards.
        signIn();
        event.preventDefault();
      } catch {
        // Stopped, because it went round: whoever clicks means it, and follows the link.
      }
    });

  onSessionChange(show);
  getSession().then(show, async (error: unknown) => {
    const { message, advice } = await explain(error);
    say(`Who is signed in could not be asked. ${message} ${advice}`);
  });
}

function say(sentence: string): void {
  byId('notice').textContent = sentence;
}
