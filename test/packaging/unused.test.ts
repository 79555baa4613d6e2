import { join } from 'node:path';
import t from 'tap';
import { root } from './published.js';
import { run } from './run.js';

t.test('knip finds no unused file, dependency or export in the repository', async (t) => {
  const knip = join(import.meta.dirname, 'node_modules', 'knip', 'bin', 'knip.js');
  t.equal((await run(root, process.execPath, [knip, '--directory', root, '--no-config-hints'])).trim(), '');
});
