import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/** Makes the page's one script and one style sheet, in `dist/web`. Part of the workspace's build, after the compiler. */
await build({
  entryPoints: ['../src/page.js', '../../style/page.css'].map((path) =>
    fileURLToPath(new URL(path, import.meta.url)),
  ),
  outdir: fileURLToPath(new URL('../web', import.meta.url)),
  entryNames: '[name]',
  bundle: true,
  minify: true,
  format: 'esm',
  platform: 'browser',
  target: ['es2022', 'chrome111', 'firefox114', 'safari16.4'],
  legalComments: 'none',
  logLevel: 'warning',
});
