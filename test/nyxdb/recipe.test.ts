import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { build } from 'esbuild';
import t from 'tap';
import { launchBrowser } from '../browser/chromium.js';
import { payloadOf, startEngine } from './engine.js';

const repository = join(import.meta.dirname, '../..');
const browser = await launchBrowser(t);

t.test(
  'the hook of docs/nyxdb.md shows what a stream holds, and never the rows of other parameters',
  async (t) => {
    const [, hook] = /```tsx\n(.*?)```/s.exec(readFileSync(join(repository, 'docs/nyxdb.md'), 'utf8')) ?? [];
    const engine = await startEngine(t);
    const { outputFiles } = await build({
      stdin: {
        contents: `
        import { createElement, useEffect, useState } from 'react';
        import { createRoot } from 'react-dom/client';
        import { createEndpointClient, developmentProfile } from '@nn-runtime/nyxdb';
        ${hook}
        const client = createEndpointClient({
          url: ${JSON.stringify(engine.url)},
          authenticate: () => ({ provider: 'p', token: 't' }),
          profile: developmentProfile,
        });
        function Book({ instrument }) {
          const { state, error } = useEndpoint(client, 'book', [instrument]);
          useEffect(() => { document.title = instrument + ' ' + JSON.stringify(error?.code ?? state?.rows ?? null); });
          return null;
        }
        const root = createRoot(document.body.appendChild(document.createElement('main')));
        window.show = (instrument) => root.render(instrument && createElement(Book, { instrument }));`,
        loader: 'tsx',
        resolveDir: join(repository, 'packages/browser'),
      },
      nodePaths: [join(repository, 'node_modules')],
      define: { 'process.env.NODE_ENV': '"production"' },
      bundle: true,
      write: false,
      format: 'esm',
      platform: 'browser',
      logLevel: 'silent',
    });
    const server = createServer((_request, response) => {
      response.setHeader('content-type', 'text/html; charset=utf-8');
      response.end(
        `<!doctype html><link rel="icon" href="data:,"><body><script type="module">${outputFiles[0]?.text}</script>`,
      );
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const page = await browser.newPage();
    t.teardown(async () => {
      await page.close();
      server.closeAllConnections();
      server.close();
    });
    const shows = (title: string) => page.waitForFunction(`document.title === ${JSON.stringify(title)}`);
    await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    await page.evaluate('show("BTC")');
    const btc = await engine.ready();
    const request = await btc.next();
    t.equal(payloadOf(request), 'book\0BTC');
    btc.answer(request, 0xd0, 'a\n1\n');
    await shows('BTC [["1"]]');
    btc.answer(request, 0xd1, '+\t1\t2\n');
    await shows('BTC [["1"],["2"]]');

    await page.evaluate('show("ETH")');
    await shows('ETH null');
    t.equal(await btc.closed, 4000);
    const eth = await engine.ready();
    const other = await eth.next();
    eth.answer(other, 0x01, 'invalid parameter');
    await shows('ETH "APPLICATION_ERROR"');

    await page.evaluate('show("BTC")');
    const again = await engine.ready();
    again.answer(await again.next(), 0xd0, 'a\n3\n');
    await shows('BTC [["3"]]');
    await page.evaluate('show(null)');
    t.equal(await again.closed, 4000, 'unmounted, it is closed');
  },
);
