import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { build } from 'esbuild';
import t from 'tap';
import { WebSocketServer } from 'ws';
import { launchBrowser } from '../browser/chromium.js';
import { createJudge } from './judge.js';
import { listenFor } from './listener.js';

/**
 * The same suite in a page of a real, headless Chromium: test files, client and scripted engine are bundled as they are, and run
 * there over the browser's own WebSocket. What a page cannot do is done here: to listen, and to judge.
 */

const PAGE: Readonly<Record<string, string>> = {
  tap: 'tap',
  ws: 'ws',
  'node:events': 'events',
  'node:http': 'servers',
  'node:net': 'servers',
  'node:util': 'util',
  './clients.js': 'clients',
};

const SKIPPED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  connection: {
    'an engine that cannot be reached, or is none, is CONNECTION_FAILED (C-82)': 'a page cannot listen',
    'a connection that never opens is given up (R11, R67, C-81)': 'a page cannot listen',
  },
};

const here = (name: string): string => join(import.meta.dirname, name);

async function bundle(suite: string): Promise<string> {
  const { outputFiles } = await build({
    stdin: {
      contents: `import './${suite}.test.ts'; import t from 'tap'; window.done = t.done();`,
      resolveDir: import.meta.dirname,
    },
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'browser',
    target: 'es2023',
    inject: [here('page/bytes.ts')],
    logLevel: 'silent',
    plugins: [
      {
        name: 'page',
        setup: ({ onResolve }) =>
          onResolve({ filter: /^(?:tap|ws|node:.*|\.\/clients\.js)$/ }, ({ path }) => ({
            path: here(`page/${PAGE[path]}.ts`),
          })),
      },
    ],
  });
  return outputFiles[0]?.text ?? '';
}

const browser = await launchBrowser(t);

for (const suite of ['connection', 'execute', 'cancel', 'revocation', 'subscribe', 'reentry'])
  t.test(`in a page of Chromium: ${suite}`, async (t) => {
    const script = await bundle(suite);
    const server = createServer((request, response) => {
      const isScript = request.url === '/suite.js';
      response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html');
      response.end(
        isScript
          ? script
          : '<!doctype html><link rel="icon" href="data:,"><script type="module" src="/suite.js"></script>',
      );
    });
    new WebSocketServer({ server, path: '/control' }).on('connection', listenFor);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const page = await browser.newPage();
    t.teardown(async () => {
      await page.close();
      server.closeAllConnections();
      server.close();
    });
    const uncaught: string[] = [];
    page.on('pageerror', (error) => uncaught.push(error.message));
    const judge = createJudge(t, SKIPPED[suite] ?? {});
    await page.exposeFunction('report', judge.hear);
    await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    // The page may count as loaded before its module has run.
    await page.waitForFunction('window.done !== undefined');
    await page.evaluate('done');
    t.same(uncaught, []);
    t.same(judge.left(), [], 'tests that are skipped, and are not there');
  });
