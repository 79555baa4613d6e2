import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { unpack } from '@publint/pack';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import t from 'tap';
import { packAll, scratch } from './pack.js';
import { published } from './published.js';

const KIB = 1024;

/**
 * The most a package may weigh: its tarball, and its files unpacked. For one that is not named, `other` counts. Whoever raises a number
 * has looked at what grew.
 */
const limits: Readonly<Record<string, readonly [packed: number, unpacked: number]>> = {
  '@nn-runtime/core': [76 * KIB, 256 * KIB],
  '@nn-runtime/dev': [128 * KIB, 512 * KIB],
  '@nn-runtime/nyxdb': [48 * KIB, 192 * KIB],
  '@nn-runtime/nyxdb-edge': [40 * KIB, 128 * KIB],
  other: [24 * KIB, 80 * KIB],
};

const { folder, remove } = scratch();
t.teardown(remove);
const tarballs = await packAll(folder);

for (const { name, folder: source, manifest } of published) {
  const tarball = tarballs.get(name) ?? '';
  const packed = readFileSync(tarball);
  const bytes = packed.buffer.slice(packed.byteOffset, packed.byteOffset + packed.byteLength) as ArrayBuffer;

  t.test(
    `${name}: the tarball holds what runs, its types, a README and the licence, and nothing else`,
    async (t) => {
      const { files, rootDir } = await unpack(bytes);
      const paths = files.map((file) => file.name.slice(rootDir.length + 1)).sort();
      const beside = paths.filter((path) => !path.startsWith('dist/'));
      t.strictSame(beside, ['LICENSE', 'README.md', 'package.json']);
      t.strictSame(
        paths.filter((path) => path.startsWith('dist/') && !/^dist\/[a-z\d-]+(\.js|\.d\.ts)$/.test(path)),
        [],
        'no maps, tests or build records',
      );
      const sources = (path: string) => ['.ts', '.tsx'].map((end) => path.replace(/(\.d\.ts|\.js)$/, end));
      t.strictSame(
        paths
          .filter((path) => path.startsWith('dist/'))
          .filter(
            (path) => !sources(path).some((file) => existsSync(join(source, file.replace('dist/', 'src/')))),
          ),
        [],
        'no file without a source: remove dist and build again',
      );
      for (const { name: file, data } of files) {
        if (/\.(js|d\.ts)$/.test(file)) {
          t.notMatch(Buffer.from(data).toString(), /sourceMappingURL/, `${file} names no map`);
        }
      }
    },
  );

  t.test(`${name}: it has kept its size`, async (t) => {
    const { files } = await unpack(bytes);
    const [mostPacked, mostUnpacked] = limits[name] ?? (limits.other as [number, number]);
    const unpacked = files.reduce((sum, { data }) => sum + data.byteLength, 0);
    t.comment(`${(packed.length / KIB).toFixed(1)} KiB packed, ${(unpacked / KIB).toFixed(1)} KiB unpacked`);
    t.ok(packed.length <= mostPacked, `${packed.length} of ${mostPacked} bytes packed`);
    t.ok(unpacked <= mostUnpacked, `${unpacked} of ${mostUnpacked} bytes unpacked`);
  });

  t.test(`${name}: its package.json says what a registry shows`, async (t) => {
    const { files, rootDir } = await unpack(bytes);
    const inside = files.find((file) => file.name === `${rootDir}/package.json`);
    const shipped = JSON.parse(Buffer.from(inside?.data ?? []).toString());
    t.match(shipped.description, /^[A-Z@].{10,120}[^.]$/);
    t.equal(shipped.license, 'Apache-2.0');
    t.equal(shipped.type, 'module');
    t.equal(shipped.sideEffects, false);
    // The lines in which a CommonJS file may `require` it without a flag.
    t.strictSame(shipped.engines, { node: '^20.19.0 || >=22.12.0' });
    t.strictSame(shipped.publishConfig, { access: 'public' });
    t.ok(Array.isArray(shipped.keywords) && shipped.keywords.length >= 3, 'keywords');
    t.equal(shipped.exports['./package.json'], './package.json');
    t.equal(shipped.version, manifest.version);
    t.notMatch(JSON.stringify(shipped), /workspace:|catalog:/, 'versions are those of the registry');
  });

  t.test(`${name}: publint finds nothing, not even a suggestion`, async (t) => {
    const { messages, pkg } = await publint({ pack: { tarball: bytes }, strict: true });
    t.strictSame(
      messages.map((message) => formatMessage(message, pkg)),
      [],
    );
  });

  t.test(`${name}: its types resolve wherever its code does`, async (t) => {
    const analysis = await checkPackage(createPackageFromTarballData(new Uint8Array(bytes)));
    // The profile "esm-only" of attw: without resolution from before `exports`, and CommonJS from before `require(esm)`.
    const problems = analysis.types === false ? ['no types'] : analysis.problems;
    t.strictSame(
      problems.filter(
        (problem) =>
          typeof problem === 'string' ||
          !('resolutionKind' in problem) ||
          !['node10', 'node16-cjs'].includes(problem.resolutionKind),
      ),
      [],
    );
  });
}

t.test('the packages are found', async (t) => {
  t.ok(published.length >= 6);
  t.strictSame(
    published.filter(({ manifest }) => manifest.private === true),
    [],
  );
  for (const { doors } of published) {
    for (const door of doors) t.ok(existsSync(door.types) && existsSync(door.code), door.specifier);
  }
});
