import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import t from 'tap';

const door = createRequire(import.meta.url).resolve('@nn-runtime/dev/testing');

/** Every module the door loads: the built files it reaches, and what they name outside. */
function reach(file: string, seen = new Set<string>()): { files: Set<string>; outside: Set<string> } {
  const outside = new Set<string>();
  const visit = (path: string): void => {
    if (seen.has(path)) return;
    seen.add(path);
    const imports = readFileSync(path, 'utf8').matchAll(/(?:\bfrom|\bimport)\s*\(?\s*'([^']+)'/g);
    for (const [, name = ''] of imports) {
      if (name.startsWith('.')) visit(join(dirname(path), name));
      else outside.add(name);
    }
  };
  visit(file);
  return { files: seen, outside };
}

t.test('the test kit loads nothing but Node itself', async (t) => {
  const { files, outside } = reach(door);
  t.strictSame([...outside].sort(), ['node:crypto', 'node:http']);
  t.ok(files.size > 10, 'its files were found');
});

t.test('importing it, and making identities, starts nothing and writes nothing', async (t) => {
  const script = `
    import { createTestIdentities } from '@nn-runtime/dev/testing';
    createTestIdentities().refused();
    const still = process.getActiveResourcesInfo().filter((name) => /TCP|Timeout|Process|Worker/.test(name));
    if (still.length > 0) throw new Error(still.join());`;
  const run = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], {
    cwd: import.meta.dirname,
    env: { PATH: process.env.PATH },
  });
  t.strictSame(run, { stdout: '', stderr: '' });
});
