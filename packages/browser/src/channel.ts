/** The tabs of one origin tell each other that who is signed in may have changed: a hint without content, which each checks for itself. */

const NAME = 'nn-runtime.session';

let open: BroadcastChannel | undefined;

/** Calls `onHint` whenever another tab announces, until the returned function is called. */
export const listen = (onHint: () => void): (() => void) => {
  // Missing in a few embedded web views: this tab then still checks when it is looked at again.
  if (typeof BroadcastChannel === 'undefined') return () => {};
  const channel = new BroadcastChannel(NAME);
  open = channel;
  channel.onmessage = onHint;
  return () => {
    channel.close();
    open = undefined;
  };
};

/** Tells the other tabs, and not this one: a channel does not hear itself. */
export const announce = (): void => {
  if (open) open.postMessage('changed');
  else if (typeof BroadcastChannel !== 'undefined') {
    const channel = new BroadcastChannel(NAME);
    channel.postMessage('changed');
    channel.close();
  }
};
