import * as browserDoor from '@nn-runtime/nyxdb';
import * as nodeDoor from '@nn-runtime/nyxdb/node';
import type { Test } from 'tap';
import { WebSocket as UndiciWebSocket } from 'undici';
import type { Engine } from './engine.js';

type Options = Partial<browserDoor.EndpointClientOptions>;

/** One WebSocket implementation, and the client over it. */
export interface Implementation {
  readonly name: string;
  /** A client of this engine that authenticates as `app_sessions` with `t0k`, closed when the test is done. */
  connect(t: Test, engine: Pick<Engine, 'url'>, options?: Options): browserDoor.EndpointClient;
}

const implementation = (
  name: string,
  create: (options: browserDoor.EndpointClientOptions) => browserDoor.EndpointClient,
): Implementation => ({
  name,
  connect(t, engine, options = {}) {
    const client = create({
      url: engine.url,
      authenticate: () => ({ provider: 'app_sessions', token: 't0k' }),
      ...options,
    });
    t.teardown(() => void client.close());
    return client;
  },
});

/**
 * Every implementation the suite runs over in this process: ws and undici; or, when NYXDB_SOCKETS says so, the host's own
 * global (Node 22 and newer, see global24.test.ts).
 */
export const implementations: readonly Implementation[] =
  process.env.NYXDB_SOCKETS === 'global'
    ? [implementation(`global of Node ${process.version}`, browserDoor.createEndpointClient)]
    : [
        implementation('ws', nodeDoor.createEndpointClient),
        implementation('undici', (options) =>
          browserDoor.createEndpointClient({
            webSocket: (url, protocols) => new UndiciWebSocket(url, protocols),
            ...options,
          }),
        ),
      ];
