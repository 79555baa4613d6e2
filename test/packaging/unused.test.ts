import { createRequire } from 'node:module';
import { join } from 'node:path';
import t from 'tap';
import { root } from './published.js';
import { run } from './run.js';

t.test('knip finds no unused file, dependency or export in the repository', async (t) => {
  const knip = createRequire(import.meta.url).resolve('knip/package.json');
  const args = [join(knip, '..', 'bin', 'knip.js'), '--directory', root, '--treat-config-hints-as-errors'];
  t.equal((await run(root, process.execPath, args)).trim(), '');
});
