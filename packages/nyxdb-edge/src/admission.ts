import type { IncomingMessage } from 'node:http';
import { type Identity, identityHeaderLines, isPerson } from '@nn-runtime/core';
import type { Settings } from './options.js';
import { identityRefusal, late, nobody, type Refusal, wrongNetwork, wrongOrigin } from './refusal.js';

/** Who may open a relay, or why the request does not. */
export type Admission = { readonly identity: Identity } | { readonly refusal: Refusal };

/** What costs nothing is looked at first: a stranger decides how often. */
function placeRefusal(settings: Settings, request: IncomingMessage): Refusal | undefined {
  // Nothing but true: a promise of false would let everybody in.
  if (settings.allowRemote(request.socket.remoteAddress ?? '') !== true) return wrongNetwork;
  // Each line by itself: joined, two of them could look like one, or like none of the list.
  const [origin, ...others] = request.headersDistinct.origin ?? [];
  if (origin === undefined) return settings.allowMissingOrigin ? undefined : wrongOrigin;
  return others.length === 0 && settings.origins.has(origin) ? undefined : wrongOrigin;
}

/** The checks before 101: network, Origin, identity. Nothing has been opened to the engine by then. */
export async function admit(settings: Settings, request: IncomingMessage): Promise<Admission> {
  const { allowAnonymous, clock, deadlines, runtime } = settings;
  const misplaced = placeRefusal(settings, request);
  if (misplaced !== undefined) return { refusal: misplaced };
  let stop = (): void => {};
  try {
    const passed = new Promise<undefined>((resolve) => {
      stop = clock.after(deadlines.handshakeMs, () => resolve(undefined));
    });
    const caller = await Promise.race([runtime.authenticate(identityHeaderLines(request)), passed]);
    if (caller === undefined) return { refusal: late };
    const { identity } = caller;
    return isPerson(identity) || allowAnonymous ? { identity } : { refusal: nobody };
  } catch (error) {
    return { refusal: identityRefusal(error) };
  } finally {
    stop();
  }
}
