import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The root of the repository. */
export const root = join(import.meta.dirname, '..', '..');

/** What these tests read of a package.json. */
export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly private?: boolean;
  readonly exports: Readonly<Record<string, string | { readonly types: string; readonly default: string }>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
  readonly [field: string]: unknown;
}

/** One way into a package. */
export interface Door {
  /** What is imported: `@nn-runtime/nyxdb/frames`. */
  readonly specifier: string;
  /** The absolute paths of its types and of its code. */
  readonly types: string;
  readonly code: string;
}

/** A package that is published: every folder of packages/, so that a new one is held to the same. */
export interface Published {
  readonly name: string;
  readonly folder: string;
  readonly manifest: Manifest;
  readonly doors: readonly Door[];
}

/** Every published package of the repository. */
export const published: readonly Published[] = readdirSync(join(root, 'packages'))
  .map((name) => join(root, 'packages', name))
  .filter((folder) => readdirSync(folder).includes('package.json'))
  .map((folder) => {
    const manifest: Manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const doors = Object.entries(manifest.exports).flatMap(([path, target]) =>
      typeof target === 'string'
        ? []
        : {
            specifier: manifest.name + path.slice(1),
            types: join(folder, target.types),
            code: join(folder, target.default),
          },
    );
    return { name: manifest.name, folder, manifest, doors };
  });
