import { readAuthentication } from './answer.js';
import { type Channel, createChannel, type Read } from './channel.js';
import { encodeText } from './encode.js';
import type { DeadlinePhase } from './errors.js';
import { FrameError } from './fault.js';
import type { Link } from './link.js';
import { authText } from './payload.js';
import type { Scope } from './scope.js';
import { OP_AUTH, OP_CAPABILITY } from './wire.js';

/** Asks the application, and gives the text of OP_AUTH; an empty one when the edge authenticates. Nothing is opened yet: wrong credentials need no socket. */
async function askPrincipal(link: Link, scope: Scope): Promise<string> {
  const { authenticate, deadlines } = link;
  if (authenticate === 'edge') return '';
  // Taken apart here, where what is none, or a getter that throws, is the callback's own doing.
  const asked = (async () => {
    const { provider, token } = (await authenticate()) as { provider: unknown; token: unknown };
    if ((provider !== null && typeof provider !== 'string') || typeof token !== 'string') throw undefined;
    return [provider, token] as const;
  })().catch((thrown: unknown) => {
    throw link.error({ code: 'CREDENTIALS_UNAVAILABLE', thrown }, 'not-sent');
  });
  return authText(...(await link.within(scope, deadlines.authMs, 'auth', 'not-sent', asked)));
}

/**
 * The one path that opens sockets: credentials, connection, capability if the profile has one, authentication. Every step
 * has its deadline; whatever fails, the socket is closed and nothing else is sent on it.
 *
 * @throws EndpointError, outcome `not-sent`. TypeError for credentials that cannot be framed.
 */
export async function openChannel(link: Link, scope: Scope): Promise<Channel> {
  const { deadlines, emit, profile } = link;
  const principal = await askPrincipal(link, scope);
  // It may have ended between the answer and here, and after close() no socket may open.
  if (scope.fault) throw link.error(scope.fault, 'not-sent');
  if (principal && link.revoked.has(principal)) throw link.error({ code: 'AUTH_REVOKED' }, 'not-sent');
  link.principal = principal;
  let channel: Channel;
  try {
    channel = scope.channel = createChannel(link, principal);
  } catch {
    // Not as a cause: a library's own message may quote the URL.
    throw link.error({ code: 'CONNECTION_FAILED' }, 'not-sent');
  }
  try {
    const step = <T>(ms: number, phase: DeadlinePhase, work: Promise<T>): Promise<T> =>
      link.within(scope, ms, phase, 'not-sent', work);
    const ask = <T>(op: number, payload: Uint8Array, state: Channel['state'], read: Read<T>) =>
      step(deadlines.authMs, 'auth', channel.ask(op, link.nextId(), payload, state, read, 'not-sent'));
    await step(deadlines.connectMs, 'connect', channel.opened);
    const { capability } = profile;
    if (principal) {
      if (capability)
        await ask(OP_CAPABILITY, capability.payload, 'connecting', (status, payload) => {
          if (capability.accepts(status, payload)) return null;
          throw new FrameError('contradictory');
        });
      const code = await ask(OP_AUTH, encodeText(principal), 'authenticating', (status, payload) =>
        readAuthentication(status, payload, profile),
      );
      if (code) throw link.error({ code }, 'not-sent');
    }
    // The edge holds the first request until the engine is ready; capabilities come before OP_AUTH, and so are the edge's too.
    else if (channel.state === 'connecting') channel.state = 'ready';
  } catch (error) {
    channel.end({ code: 'CONNECTION_FAILED' }, 4008);
    throw error;
  }
  emit({ name: 'socket-ready' });
  return channel;
}
