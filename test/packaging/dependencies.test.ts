import { readdirSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { join } from 'node:path';
import t from 'tap';
import ts from 'typescript-5';
import { published } from './published.js';

/** Doors a page loads: nothing they reach may be Node's, or need to be installed. */
const forPages = ['@nn-runtime/browser', '@nn-runtime/nyxdb', '@nn-runtime/nyxdb/frames'];

/** What a built file imports, types included: `import`, `export from`, `import()` and the types written `import('x')`. */
const importsOf = (file: string): string[] =>
  ts.preProcessFile(readFileSync(file, 'utf8'), true, true).importedFiles.map(({ fileName }) => fileName);

const packageOf = (specifier: string): string =>
  specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');

/** Every package the built files of a folder import, Node's own modules left out. */
function packagesIn(folder: string, ending: RegExp): Set<string> {
  const files = readdirSync(join(folder, 'dist')).filter((file) => ending.test(file));
  const specifiers = files.flatMap((file) => importsOf(join(folder, 'dist', file)));
  return new Set(specifiers.filter((one) => !one.startsWith('.') && !one.startsWith('node:')).map(packageOf));
}

/** Every module a door loads, itself first. */
function reach(file: string, found: string[] = []): string[] {
  for (const specifier of importsOf(file)) {
    const target = specifier.startsWith('.') ? join(file, '..', specifier) : specifier;
    if (found.includes(target)) continue;
    found.push(target);
    if (specifier.startsWith('.')) reach(target, found);
  }
  return found;
}

for (const { name, folder, manifest } of published) {
  const dependencies = Object.keys(manifest.dependencies ?? {});
  const peers = Object.keys(manifest.peerDependencies ?? {});

  t.test(`${name}: all it imports is declared, and all it brings along is imported`, async (t) => {
    const inCode = packagesIn(folder, /\.js$/);
    const inTypes = packagesIn(folder, /\.d\.ts$/);
    const declared = new Set([...dependencies, ...peers]);
    t.strictSame(
      [...inCode].filter((one) => !declared.has(one)),
      [],
      'nothing undeclared runs',
    );
    // Express has its types in another package, which whoever uses them installs.
    const typed = (one: string) => declared.has(one) || declared.has(`@types/${one}`);
    t.strictSame(
      [...inTypes].filter((one) => !typed(one)),
      [],
      'nothing undeclared is in the types',
    );
    // A peer need not be imported: Express's middleware takes what Express hands it.
    t.strictSame(
      dependencies.filter((one) => !inCode.has(one)),
      [],
      'nothing is installed for nothing',
    );
    t.strictSame(
      [...inCode].filter((one) => builtinModules.includes(one)),
      [],
      'modules of Node have their prefix',
    );
  });

  t.test(`${name}: what it shares with the application is a peer, and no library is pinned`, async (t) => {
    const shared = ['fastify', 'express', 'react'];
    t.strictSame(
      dependencies.filter((one) => shared.includes(one)),
      [],
    );
    t.strictSame(
      dependencies.filter((one) => one.startsWith('@types/')),
      [],
    );
  });
}

t.test('the doors of a page load neither Node nor another package', async (t) => {
  const doors = published.flatMap((one) => one.doors).filter(({ specifier }) => forPages.includes(specifier));
  t.equal(doors.length, forPages.length);
  for (const door of doors) {
    const reached = reach(door.code);
    t.ok(reached.length >= 5, `${door.specifier} loads ${reached.length} files`);
    t.strictSame(
      reached.filter((one) => !one.startsWith('/')),
      [],
      door.specifier,
    );
  }
});
