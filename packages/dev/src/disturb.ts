import type { ServerResponse } from 'node:http';
import type { Condition } from './state.js';

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
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, slowMs);
        response.once('close', () => {
          clearTimeout(timer);
          resolve();
        });
      });
      return response.destroyed;
  }
}
