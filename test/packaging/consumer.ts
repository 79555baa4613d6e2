import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { packAll, pnpm } from './pack.js';
import { published, root } from './published.js';

/** An installed package's version, seen from a folder. Exactly that one is installed, since the store has it already. */
function versionSeenFrom(folder: string, name: string): string {
  const manifest = join(folder, 'node_modules', name, 'package.json');
  return JSON.parse(readFileSync(manifest, 'utf8')).version;
}

/** What somebody who uses the packages installs besides: every peer, and the types of Node. */
function others(): Record<string, string> {
  const peers = published.flatMap(({ folder, manifest }) =>
    Object.keys(manifest.peerDependencies ?? {})
      .filter((name) => !name.startsWith('@nn-runtime/'))
      .map((name) => [name, versionSeenFrom(folder, name)]),
  );
  return { ...Object.fromEntries(peers), '@types/node': versionSeenFrom(root, '@types/node') };
}

/** Packs every package and installs the tarballs into an empty project. */
export async function installInto(folder: string): Promise<void> {
  const tarballs = join(folder, 'tarballs');
  mkdirSync(tarballs);
  const files = Object.fromEntries(
    [...(await packAll(tarballs))].map(([name, file]) => [name, `file:${file}`]),
  );
  const manifest = {
    name: 'consumer',
    private: true,
    type: 'module',
    dependencies: { ...others(), ...files },
  };
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
  // The packages name each other by version, and no registry has that yet.
  writeFileSync(join(folder, 'pnpm-workspace.yaml'), JSON.stringify({ overrides: files }));
  await pnpm(folder, 'install', '--prefer-offline', '--no-frozen-lockfile');
}

const compilerOf = (from: string, name: string): string =>
  join(createRequire(from).resolve(`${name}/package.json`), '..', 'bin', 'tsc');

/** The newest compiler, this repository's own. */
export const newest = compilerOf(join(root, 'package.json'), 'typescript');

/** The oldest compiler that is supported. */
export const oldest = compilerOf(import.meta.url, 'typescript-5');
