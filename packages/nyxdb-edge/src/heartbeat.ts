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
  const heard = (): void => {
    missed = 0;
  };
  socket.on('pong', heard);
  socket.on('message', heard);
  const beat = (): void => {
    stop = clock.after(deadlines.pingMs, beat);
    if (mayBeBusy()) missed = 0;
    if (missed === MAX_MISSED) onGone();
    else socket.ping();
    missed++;
  };
  let stop = clock.after(deadlines.pingMs, beat);
  return () => stop();
}
