import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build, transformSync } from 'esbuild';

const repository = join(import.meta.dirname, '../..');
const COPIED = [
  'packages/core',
  'packages/fastify',
  'packages/express',
  'packages/nyxdb',
  'packages/nyxdb-edge',
  'test/express4',
];

/** A copy of the packages and their tests, compiled, in which a source can be replaced. */
export interface Tree {
  readonly folder: string;
  /** Puts a changed source in the place of the compiled one. */
  replace(file: string, source: string): void;
  remove(): void;
}

export const sourceOf = (file: string): string => readFileSync(join(repository, 'packages', file), 'utf8');

export async function makeTree(): Promise<Tree> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'mutants-')));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  linkModules('.', folder);
  for (const part of COPIED) {
    mkdirSync(join(folder, part), { recursive: true });
    cpSync(join(repository, part, 'package.json'), join(folder, part, 'package.json'));
    linkModules(part, folder);
    await compile(join(part, 'src'), join(folder, part, 'dist'));
  }
  await compile('test', join(folder, 'test'));
  // A test may serve its own folder: what it names is there too.
  cpSync(join(repository, 'test'), join(folder, 'test'), {
    recursive: true,
    filter: (name) => !/node_modules|\/dist|\/express4/.test(name.slice(repository.length)),
  });
  return {
    folder,
    replace: (file, source) => {
      const { code } = transformSync(source, { loader: 'ts', target: 'es2023' });
      writeFileSync(join(folder, 'packages', file.replace('/src/', '/dist/').replace(/ts$/, 'js')), code);
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

async function compile(from: string, to: string): Promise<void> {
  const names = readdirSync(join(repository, from), { recursive: true, encoding: 'utf8' });
  await build({
    entryPoints: names
      .filter((name) => name.endsWith('.ts') && !name.endsWith('.d.ts') && !/node_modules|dist\//.test(name))
      .map((name) => join(repository, from, name)),
    outbase: join(repository, from),
    outdir: to,
    format: 'esm',
    target: 'es2023',
    logLevel: 'error',
  });
}

// What was installed is linked; what is copied is linked to its copy, so that everybody meets the changed source.
function linkModules(part: string, folder: string): void {
  const modules = join(repository, part, 'node_modules');
  for (const name of readdirSync(modules).flatMap((entry) =>
    entry.startsWith('@') ? readdirSync(join(modules, entry)).map((inner) => join(entry, inner)) : [entry],
  )) {
    if (name.startsWith('.')) continue;
    const target = realpathSync(join(modules, name));
    const copied = COPIED.find((copy) => target === join(repository, copy));
    const link = join(folder, part, 'node_modules', name);
    mkdirSync(join(link, '..'), { recursive: true });
    symlinkSync(copied === undefined ? target : join(folder, copied), link);
  }
}
