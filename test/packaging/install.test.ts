import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { installInto, newest, oldest } from './consumer.js';
import { scratch } from './pack.js';
import { published } from './published.js';
import { readReadme } from './readme.js';
import { run } from './run.js';

/** Doors a page loads, so their types may need nothing of Node. */
const forPages = [
  '@nn-runtime/browser',
  '@nn-runtime/browser/react',
  '@nn-runtime/nyxdb',
  '@nn-runtime/nyxdb/frames',
];

const doors = published.flatMap((one) => one.doors.map(({ specifier }) => specifier));
// One installation and five compilations, on a machine that may be busy.
t.setTimeout(900_000);
const { folder, remove } = scratch();
t.teardown(remove);
await installInto(folder);

const strict = {
  target: 'es2023',
  strict: true,
  noEmit: true,
  skipLibCheck: false,
  // The compiler's own libraries are its own affair, and the most of the time.
  skipDefaultLibCheck: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
};

/** Compiles files in a folder of the project with its own options, and gives what the compiler printed. */
async function compile(
  name: string,
  options: object,
  files: Readonly<Record<string, string>>,
  compiler: string,
): Promise<string> {
  const project = join(folder, name);
  mkdirSync(project, { recursive: true });
  for (const [file, text] of Object.entries(files)) writeFileSync(join(project, file), text);
  const tsconfig = { compilerOptions: { ...strict, ...options }, files: Object.keys(files) };
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify(tsconfig));
  return run(project, process.execPath, [compiler, '-p', '.', '--listFiles']);
}

const imports = (specifiers: readonly string[]): string =>
  specifiers.map((one, at) => `export * as door${at} from '${one}';\n`).join('');

const examples = Object.fromEntries(
  published.flatMap((one) =>
    readReadme(one.folder).examples.map((text, at) => [
      `readme-${one.name.replace(/\W/g, '-')}-${at}.ts`,
      text,
    ]),
  ),
);

const byImport = imports(doors);
const byRequire = doors.map((one, at) => `export import door${at} = require('${one}');\n`).join('');
const lib = ['es2023', 'esnext.disposable', 'dom', 'dom.iterable'];
const bundler = { module: 'esnext', moduleResolution: 'bundler' };
const nodenext = { module: 'nodenext' };

for (const [name, compiler] of Object.entries({ 'TypeScript 7': newest, 'TypeScript 5.9': oldest })) {
  t.test(
    `${name}: every door, by import and by require, and every README's example compile for Node`,
    async (t) => {
      const files = { 'all.mts': byImport, 'all.cts': byRequire, ...examples };
      const listed = await compile('node', { ...nodenext, lib, types: ['node'] }, files, compiler);
      for (const file of Object.keys(files)) t.match(listed, new RegExp(`/${file}$`, 'm'));
    },
  );
}

t.test('the doors of a page compile without the types of Node', async (t) => {
  const files = { 'page.ts': imports(forPages) };
  const listed = await compile('page', { ...nodenext, lib, types: [] }, files, newest);
  t.match(listed, /\/page\.ts$/m);
  t.notMatch(listed, /@types[/+]node/);
});

// With the newest compiler alone: the declarations are the same, and only the finding of modules differs.
t.test('every door and every README example compile for a bundler', async (t) => {
  const files = { 'all.ts': byImport, ...examples };
  t.match(await compile('bundler', { ...bundler, lib, types: ['node'] }, files, newest), /\/all\.ts$/m);
  const page = { 'page.ts': imports(forPages) };
  const listed = await compile('page-bundler', { ...bundler, lib, types: [] }, page, newest);
  t.notMatch(listed, /@types[/+]node/);
});

t.test('require and import give the same names of every door', async (t) => {
  const list = JSON.stringify(doors);
  const print = (load: string) =>
    `(async () => { for (const one of ${list}) console.log(one, Object.keys(${load}).sort().join()) })()`;
  const imported = await run(folder, process.execPath, [
    '--input-type=module',
    '-e',
    print('await import(one)'),
  ]);
  const required = await run(folder, process.execPath, [
    '--input-type=commonjs',
    '-e',
    print('require(one)'),
  ]);
  // Node adds `__esModule` to what require gives of a module with a default export (Node.js, "Loading ECMAScript modules using require()").
  t.equal(required.replace(/\b__esModule,/g, ''), imported);
  t.equal(imported.trim().split('\n').length, doors.length);
});

t.test('installed packages know a person, nobody and a forgery, by import and by require', async (t) => {
  cpSync(join(import.meta.dirname, 'fixtures'), folder, { recursive: true });
  for (const file of ['use.mjs', 'use.cjs']) {
    const printed = await run(folder, process.execPath, [file]);
    t.strictSame(printed.trim().split('\n'), ['Ana Souza', 'anonymous', 'IDENTITY_ASSERTION_INVALID'], file);
  }
});

t.test('nn-dev is a command of the project', async (t) => {
  t.match(await run(folder, join(folder, 'node_modules', '.bin', 'nn-dev'), ['--help']), /--broker-port/);
});
