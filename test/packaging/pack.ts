import { mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { published, root } from './published.js';
import { run } from './run.js';

// Under `pnpm test` the pnpm that runs it; by itself the one the README names.
const own = process.env.npm_execpath ?? '';
const [program, ...first] = /^pnpm(\.exe)?$/.test(basename(own)) ? [own] : ['npx', '-y', 'pnpm@12'];

/** Runs pnpm in a folder. */
export const pnpm = (folder: string, ...args: readonly string[]): Promise<string> =>
  run(folder, program ?? '', [...first, ...args]);

/** A private folder outside the workspace, and its end. */
export function scratch(): { folder: string; remove: () => void } {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'nn-packaging-')));
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/** `pnpm pack` of every package, as it would be published: tarball paths by package name. */
export async function packAll(folder: string): Promise<ReadonlyMap<string, string>> {
  await pnpm(root, '--recursive', '--filter', './packages/*', 'pack', '--pack-destination', folder);
  const files = readdirSync(folder);
  return new Map(
    published.map(({ name, manifest }) => {
      const file = `${name.replace('@', '').replace('/', '-')}-${manifest.version}.tgz`;
      if (!files.includes(file)) throw new Error(`pnpm pack made no ${file}`);
      return [name, join(folder, file)];
    }),
  );
}
