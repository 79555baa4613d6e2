import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

// React is a dependency of the package's own development, not of the repository's root.
const PACKAGE = fileURLToPath(new URL('../../packages/browser/', import.meta.url));

/** Bundles what a page would import, as a page would get it: with the packages it needs, or with their imports left to be seen. */
export const bundle = async (
  contents: string,
  packages: 'bundle' | 'external' = 'bundle',
): Promise<string> => {
  const result = await build({
    stdin: { contents, resolveDir: PACKAGE },
    bundle: true,
    nodePaths: [`${PACKAGE}node_modules`],
    minify: true,
    write: false,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    define: { 'process.env.NODE_ENV': '"production"' },
    packages,
    logLevel: 'silent',
  });
  const [file] = result.outputFiles;
  if (!file) throw new Error('esbuild gave no file');
  return file.text;
};
