import { resolve } from 'node:path';
import { node24 } from '@nn-runtime-test/node24';
import t from 'tap';

/**
 * The same suite over the host's own global WebSocket, which Node has from 22 on: run by the Node 24 binary that npm carries.
 * Only Linux on x64 has that package, and it is optional: elsewhere these are skipped, and say so.
 */
const binary = node24();

for (const suite of ['connection', 'execute', 'cancel', 'revocation', 'subscribe', 'reentry'])
  t.test(
    `the global WebSocket of Node 24: ${suite}`,
    { skip: binary === undefined && 'the package of Node 24 has none for this platform' },
    async (t) => {
      await t.spawn(String(binary), ['--import=tsx', resolve(import.meta.dirname, `${suite}.test.ts`)], {
        env: { ...process.env, NYXDB_SOCKETS: 'global' },
      });
    },
  );
