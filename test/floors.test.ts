import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';

const root = join(import.meta.dirname, '..');

/** Every module a source file names in an import or export, types included. */
function importsOf(file: string): string[] {
  const source = readFileSync(join(root, file), 'utf8').replace(/^\s*(\/\/|\*|\/\*).*$/gm, '');
  const found = source.matchAll(/(?:\bfrom|\bimport)\s*\(?\s*'([^']+)'/g);
  return [...found].map((match) => match[1] as string);
}

const sources = (folder: string): string[] =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join(folder, name));

const outside = (file: string): string[] => importsOf(file).filter((name) => !name.startsWith('.'));

t.test('the lowest floor of core imports nothing', async (t) => {
  for (const name of ['wire', 'querymesh-codes', 'value', 'standard-schema', 'clock', 'http-client']) {
    t.strictSame(importsOf(`packages/core/src/${name}.ts`), [], name);
  }
});

t.test('core files import only from floors below their own', async (t) => {
  const floors: readonly (readonly string[])[] = [
    ['wire', 'querymesh-codes', 'value', 'standard-schema', 'clock', 'http-client'],
    ['errors'],
    [
      ...[
        'header',
        'claims',
        'identity',
        'options',
        'key-set',
        'body',
        'http-answer',
        'guard',
        'log-redaction',
      ],
      ...[
        'trino-type',
        'json',
        'jsonable',
        'scalar',
        'decode',
        'answer',
        'result',
        'rows',
        'instant',
        'fields',
      ],
      ...['sql', 'sql-literal', 'sql-scan', 'sql-seam', 'sql-template', 'sql-value', 'query', 'disconnect'],
    ],
    [
      'key-fetch',
      'pace',
      'events',
      'keys',
      'verify',
      'verified',
      'broker',
      'call-limit',
      'gate',
      'retry',
      'retry-after',
      'connections',
      'idleness',
    ],
    ['runtime'],
    ['index'],
  ];
  const floorOf = (name: string): number => floors.findIndex((floor) => floor.includes(name));
  for (const file of sources('packages/core/src')) {
    const name = file.replace(/^.*\/(.*)\.ts$/, '$1');
    const floor = floorOf(name);
    t.not(floor, -1, `${name} has a floor`);
    for (const imported of importsOf(file).filter((path) => path.startsWith('./'))) {
      const below = floorOf(imported.slice(2, -3));
      t.ok(below !== -1 && below <= floor, `${name} imports ${imported}`);
    }
  }
});

t.test('a file of one floor never imports a file that imports it', async (t) => {
  const graph = new Map(
    sources('packages/core/src').map((file) => [
      `./${file.replace(/^.*\/(.*)\.ts$/, '$1')}.js`,
      importsOf(file).filter((path) => path.startsWith('./')),
    ]),
  );
  const reaches = (from: string, to: string, seen = new Set<string>()): boolean =>
    (graph.get(from) ?? []).some((next) => {
      if (next === to) return true;
      if (seen.has(next)) return false;
      seen.add(next);
      return reaches(next, to, seen);
    });
  for (const file of graph.keys()) t.notOk(reaches(file, file), `${file} is in no cycle`);
});

t.test('jose is in keys and verify alone', async (t) => {
  for (const file of sources('packages/core/src')) {
    if (/\/(keys|verify)\.ts$/.test(file)) continue;
    t.notOk(outside(file).includes('jose'), file);
  }
});

t.test('runtime alone composes the steps', async (t) => {
  for (const file of sources('packages/core/src')) {
    if (/\/(runtime|index)\.ts$/.test(file)) continue;
    const steps = importsOf(file).filter((name) =>
      ['./keys.js', './verify.js', './broker.js'].includes(name),
    );
    t.strictSame(steps, [], file);
  }
});

t.test('index files only re-export', async (t) => {
  for (const name of ['core', 'fastify', 'express', 'dev', 'browser', 'nyxdb', 'nyxdb-edge']) {
    const source = readFileSync(join(root, `packages/${name}/src/index.ts`), 'utf8');
    const rest = source
      .replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '')
      .replace(/export (type )?\{[^}]*\}( from '[^']+')?;|import '\.\/[^']+';/g, '')
      .trim();
    t.equal(rest, '', name);
  }
});

t.test('each package imports what it may and nothing else', async (t) => {
  const allowed: Record<string, readonly string[]> = {
    core: ['jose', 'zod', 'lru-cache'],
    fastify: ['@nn-runtime/core', 'fastify', 'fastify-plugin'],
    express: ['@nn-runtime/core', 'express'],
    browser: ['react'],
    nyxdb: ['ws'],
    'nyxdb-edge': ['@nn-runtime/core', '@nn-runtime/nyxdb/frames', 'ws', 'fastify'],
  };
  for (const [name, modules] of Object.entries(allowed)) {
    for (const file of sources(`packages/${name}/src`)) {
      const foreign = outside(file).filter(
        (module) => !module.startsWith('node:') && !modules.includes(module),
      );
      t.strictSame(foreign, [], file);
    }
  }
});

t.test('the local platform shares no code with what it is there to test', async (t) => {
  for (const file of sources('packages/dev/src')) {
    t.strictSame(
      outside(file).filter((name) => name.startsWith('@nn-runtime/')),
      [],
      file,
    );
  }
});

t.test('examples and tests use public doors only', async (t) => {
  const files = [...sources('examples'), ...sources('test')].filter(
    (file) => !/node_modules|\/dist\//.test(file),
  );
  for (const file of files) {
    const inner = importsOf(file).filter((name) =>
      /packages\/[a-z-]+\/src|@nn-runtime\/[a-z-]+\/src/.test(name),
    );
    t.strictSame(inner, [], file);
  }
});
