import type { ServerResponse } from 'node:http';
import { outsideProtocol, type Refusal, refusal } from './refusal.js';
import type { Condition, QueryMeshCondition } from './state.js';

/** Longer than the 5 seconds a runtime waits for keys, shorter than what anybody waits for a query. */
const slowMs = 10_000;

/** Lets a fault act on an answer; true when nothing is left to be answered. */
export async function disturb(condition: Condition, response: ServerResponse): Promise<boolean> {
  switch (condition) {
    case 'up':
      return false;
    case 'down':
      // As if nothing listened: the connection ends without a byte.
      response.destroy();
      return true;
    case 'garbage':
      // What a misconfigured proxy in between answers: success, and not the protocol.
      response.writeHead(200, { 'content-type': 'text/html', 'cache-control': 'no-store' });
      response.end('<!doctype html><title>It works!</title>');
      return true;
    case 'slow':
      await waitSlowly(response);
      return response.destroyed;
  }
}

/** Lets a fault act on QueryMesh, behind the broker: what the broker then says, or nothing when the query is to run. */
export async function disturbQueryMesh(
  condition: QueryMeshCondition,
  response: ServerResponse,
): Promise<Refusal | undefined> {
  switch (condition) {
    case 'up':
      return undefined;
    case 'down':
      return refusal('QUERYMESH_UNAVAILABLE');
    case 'garbage':
      return outsideProtocol;
    case 'rejects':
      return refusal('QUERYMESH_IDENTITY_REJECTED');
    case 'slow':
      await waitSlowly(response);
      return undefined;
  }
}

/** Ends early when nobody waits for the answer any more. */
function waitSlowly(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, slowMs);
    response.once('close', () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
