import * as browserDoor from '@nn-runtime/nyxdb';
import * as nodeDoor from '@nn-runtime/nyxdb/node';
import { WebSocket as UndiciWebSocket } from 'undici';
import { type Implementation, implementation } from './implementation.js';

export type { Implementation };

/**
 * Every implementation the suite runs over in this process: ws and undici; or, when NYXDB_SOCKETS says so, the host's own
 * global (Node 22 and newer, see global24.test.ts). In a page it is the browser's (see chromium.test.ts).
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
