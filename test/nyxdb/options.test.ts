import { createEndpointClient, documentedProfile, type EndpointClientOptions } from '@nn-runtime/nyxdb';
import * as nodeDoor from '@nn-runtime/nyxdb/node';
import t from 'tap';
import { WebSocket as UndiciWebSocket } from 'undici';
import { WebSocket } from 'ws';

const good: EndpointClientOptions = {
  url: 'ws://127.0.0.1:9/',
  authenticate: () => ({ provider: 'p', token: 't' }),
  webSocket: (url, protocols) => new WebSocket(url, protocols),
};
const development = { ...documentedProfile, provenance: 'development' } as const;

t.test('a wrong or unknown option is a TypeError at construction, before anything opens', async (t) => {
  const wrong: readonly (readonly [string, Record<string, unknown>])[] = [
    ['no url', { url: undefined }],
    ['a url that is none', { url: 'nonsense' }],
    ['another scheme', { url: 'ftp://127.0.0.1/' }],
    ['a user in the url', { url: 'wss://user@nyx.example/' }],
    ['a password in the url', { url: 'wss://:secret@nyx.example/' }],
    ['no authenticate', { authenticate: undefined }],
    ['a token for authenticate', { authenticate: 'secret' }],
    ['an unknown option', { retries: 3 }],
    ['a profile that is none', { profile: {} }],
    ['null for a profile', { profile: null }],
    ['an unknown limit', { limits: { maxCells: 5 } }],
    ['an unknown deadline', { deadlines: { connectMS: 5 } }],
    ['an inherited name for a deadline', { deadlines: { toString: 5 } }],
    ['an unknown back-off', { backoff: { factor: 5 } }],
    ['no deadline at all', { deadlines: { responseMs: Number.POSITIVE_INFINITY } }],
    ['a deadline that timers cannot hold', { deadlines: { totalMs: 2 ** 31 } }],
    ['NaN', { deadlines: { authMs: Number.NaN } }],
    ['text for a number', { limits: { maxRows: '5' } }],
    ['an empty pool', { limits: { poolSize: 0 } }],
    ['a negative wait', { backoff: { baseMs: -1 } }],
  ];
  for (const [what, change] of wrong)
    try {
      createEndpointClient({ ...good, ...change } as EndpointClientOptions);
      t.fail(`${what} was accepted`);
    } catch (error) {
      t.ok(error instanceof TypeError, what);
      t.notMatch(String((error as Error).stack), /secret/, what);
    }
  t.throws(() => createEndpointClient(undefined as never), TypeError);
  for (const fine of [
    { limits: { maxRows: undefined, maxWaiting: 0 } },
    { deadlines: { quietMs: 0, connectMs: 0.5 }, backoff: { rebuildsPerMinute: 0, baseMs: 0 } },
    { url: new URL('ws://localhost:9/') },
    { url: 'ws://[::1]:9/' },
    { url: 'ws://app.localhost:9/' },
    { url: 'wss://nyx.example/live?v=1' },
    { profile: undefined, onEvent: undefined, limits: undefined },
  ])
    t.ok(createEndpointClient({ ...good, ...fine }));
});

t.test('ws: off loopback must be allowed in words (N9)', async (t) => {
  for (const url of [
    'ws://nyx.example/',
    'ws://127.0.0.1.nyx.example/',
    'ws://localhost.nyx.example/',
    'ws://10.0.0.1/',
    'ws://[::2]/',
  ]) {
    t.throws(() => createEndpointClient({ ...good, url }), { name: 'TypeError', message: /wss:/ }, url);
    t.ok(createEndpointClient({ ...good, url, trustedNetwork: true }), url);
  }
});

t.test('a development profile off loopback must be allowed in words (N9)', async (t) => {
  const url = 'wss://nyx.example/';
  t.throws(() => createEndpointClient({ ...good, url, profile: development }), {
    name: 'TypeError',
    message: /loopback/,
  });
  t.ok(createEndpointClient({ ...good, url, profile: development, allowDevelopmentProfile: true }));
  t.ok(createEndpointClient({ ...good, profile: development }));
});

t.test('without a WebSocket the error says what to import (N9)', async (t) => {
  const { webSocket: _, ...rest } = good;
  t.intercept(globalThis, 'WebSocket', { value: undefined, configurable: true });
  t.throws(() => createEndpointClient(rest), { name: 'TypeError', message: /@nn-runtime\/nyxdb\/node/ });
  t.ok(nodeDoor.createEndpointClient(rest), 'the Node door has ws');
});

t.test('without a cryptographic random source there is no client (C-16)', async (t) => {
  t.intercept(globalThis, 'crypto', { value: undefined, configurable: true });
  t.throws(() => createEndpointClient(good), { name: 'TypeError', message: /getRandomValues/ });
});

t.test('in a page a path is of the page itself', async (t) => {
  Object.defineProperty(globalThis, 'location', {
    value: new URL('https://app.example/a/b'),
    configurable: true,
  });
  t.teardown(() => Reflect.deleteProperty(globalThis, 'location'));
  const urls: string[] = [];
  const client = createEndpointClient({
    ...good,
    url: '/live',
    webSocket: (url) => {
      urls.push(url);
      throw new Error('seen');
    },
  });
  await t.rejects(client.execute('a'), { code: 'CONNECTION_FAILED' });
  t.same(urls, ['wss://app.example/live']);
});

t.test('the profile is told, and every standard socket fits', async (t) => {
  const client = createEndpointClient({
    ...good,
    webSocket: (url, protocols) => new UndiciWebSocket(url, protocols),
  });
  t.match(client.info(), {
    profile: { revision: documentedProfile.revision, provenance: 'documented' },
    sockets: { connecting: 0, authenticating: 0, ready: 0, busy: 0, draining: 0 },
    waiting: 0,
  });
  t.ok(Object.isFrozen(documentedProfile));
});
