import type { WebSocket } from 'ws';
import type { Settings } from './options.js';

/** Pings without an answer after which a side is taken for gone. */
const MAX_MISSED = 2;

/**
 * Pings one side of a relay: browsers cannot, and the contract has no operation for it. Keeps the connection open through whatever closes
 * quiet ones, and finds out when nobody is there any more.
 *
 * @param mayBeBusy - whether there is a reason not to answer now: a pong is read behind everything else.
 * @param onGone - told when it did not answer.
 * @returns what ends it.
 */
export function keepAlive(
  { clock, deadlines }: Settings,
  socket: WebSocket,
  mayBeBusy: () => boolean,
  onGone: () => void,
): () => void {
  let missed = 0;
  // Not at messages: a second listener to each would cost every one of them, and who sends answers pings too.
  socket.on('pong', () => {
    missed = 0;
  });
  const beat = (): void => {
    stop = clock.after(deadlines.pingMs, beat);
    if (missed === MAX_MISSED) {
      onGone();
      return;
    }
    socket.ping();
    missed = mayBeBusy() ? 0 : missed + 1;
  };
  let stop = clock.after(deadlines.pingMs, beat);
  return () => stop();
}
