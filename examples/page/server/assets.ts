import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';

/** A file of the page: where it is served, and how. */
export interface Asset {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Another content has another path, so a browser may keep a file for good. */
function asset(file: URL, name: string, extension: string, type: string): Asset {
  // The compiler alone does not make it.
  if (!existsSync(file)) throw new Error(`the page has no ${name}.${extension} yet: run \`pnpm run build\``);
  const body = readFileSync(file, 'utf8');
  const hash = createHash('sha256').update(body).digest('hex').slice(0, 12);
  return {
    path: `/assets/${name}-${hash}.${extension}`,
    headers: {
      'content-type': `${type}; charset=utf-8`,
      'cache-control': 'public, max-age=31536000, immutable',
      'x-content-type-options': 'nosniff',
    },
    body,
  };
}

const bundled = (name: string): URL => new URL(`../web/${name}`, import.meta.url);

/** The page's script, made by `bundle.ts`. */
export const script = asset(bundled('page.js'), 'page', 'js', 'text/javascript');
/** The page's style sheet, made by `bundle.ts`. */
export const style = asset(bundled('page.css'), 'page', 'css', 'text/css');

const icon: Asset = {
  ...asset(new URL('../../icon.svg', import.meta.url), 'icon', 'svg', 'image/svg+xml'),
  path: '/icon.svg',
};

/** Every file the page needs besides itself. */
export const assets: readonly Asset[] = [
  script,
  style,
  { ...icon, headers: { ...icon.headers, 'cache-control': 'public, max-age=3600' } },
];
