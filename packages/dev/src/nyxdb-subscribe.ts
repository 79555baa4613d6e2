import { readCall } from './nyxdb-execute.js';
import type { NyxdbFaultPoint } from './nyxdb-faults.js';
import { type Request, type Status, status } from './nyxdb-frame.js';
import type { EngineParts } from './nyxdb-parts.js';
import type { Principal } from './nyxdb-providers.js';

/**
 * OP_ENDPOINT_SUB: sends the snapshot, then deltas, until the function returned is called. The statuses and bodies are
 * ours (design N10).
 *
 * @param send - sends a frame with this request's id
 * @param close - ends the connection, after the terminal frame
 * @throws RequestError, or SqlEngineError from the database; nothing was sent then
 */
export async function subscribe(
  parts: EngineParts,
  principal: Principal | undefined,
  { payload }: Request,
  { send, close }: { send: (on: NyxdbFaultPoint, status: Status, body: string) => void; close: () => void },
  ended: AbortSignal,
): Promise<() => void> {
  const { drained } = parts.streams;
  const { name, parameters } = readCall(payload);
  const bound = parts.catalog.bind(name, parameters, principal, 'sub');
  const release = parts.subscriptions.take(principal?.userId ?? '');
  try {
    const subscriber = {
      snapshot: (body: string) => send('snapshot', status.snapshot, body),
      delta: (body: string) => send('delta', status.delta, body),
      failed(text: string) {
        send('sub', status.error, text);
        close();
      },
      ended() {
        send('end', status.end, '');
        close();
      },
    };
    const leave = await parts.admission.run(
      () => parts.streams.subscribe(bound, subscriber, ended, drained),
      ended,
    );
    return () => {
      leave();
      release();
    };
  } catch (error) {
    release();
    throw error;
  }
}
