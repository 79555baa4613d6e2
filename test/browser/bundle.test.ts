import { gzipSync } from 'node:zlib';
import * as browser from '@nn-runtime/browser';
import t from 'tap';
import { bundle } from './bundle.js';

t.test('the whole of it is at most 3 KiB on the wire', async (t) => {
  const code = await bundle(
    `export * from '@nn-runtime/browser'`.replace('@nn-runtime/browser', './dist/index.js'),
  );
  const bytes = gzipSync(code, { level: 9 }).length;
  t.ok(bytes <= 3072, `${bytes} bytes`);
});

t.test('it brings nothing along, and nothing of Node', async (t) => {
  const code = await bundle(`export * from './dist/index.js'`, 'external');
  t.notMatch(code, /\bimport\b|\brequire\b|node:|process\./);
  const react = await bundle(`export * from './dist/react.js'`, 'external');
  t.same(
    [...react.matchAll(/from\s*"([^"]+)"/g)].map((match) => match[1]),
    ['react'],
    'its React door: React',
  );
});

t.test('its public names are these', async (t) => {
  t.same(Object.keys(browser).sort(), [
    'ForbiddenError',
    'NetworkError',
    'ProtocolError',
    'SessionEndedError',
    'SessionError',
    'SignInLoopError',
    'SignedOutError',
    'fetchWithSession',
    'getContext',
    'getSession',
    'onSessionChange',
    'signIn',
    'signInUrl',
    'signOut',
  ]);
});

t.test('importing it touches nothing of the page', async (t) => {
  for (const name of ['fetch', 'location', 'sessionStorage', 'BroadcastChannel', 'document', 'navigator']) {
    t.intercept(globalThis, name as keyof typeof globalThis, {
      get: () => t.fail(`${name} was read`),
      configurable: true,
    });
  }
  const code = await bundle(`export * from './dist/index.js'`);
  const fresh: unknown = await import(`data:text/javascript,${encodeURIComponent(code)}`);
  t.ok(fresh);
});
