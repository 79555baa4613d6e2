import { inspect } from 'node:util';
import { createRuntime, type Runtime } from '@nn-runtime/core';
import { createNyxdbEdge, type NyxdbEdgeOptions } from '@nn-runtime/nyxdb-edge';
import t from 'tap';
import { environment } from '../tokens.js';
import { signer } from './edge.js';

const runtime = createRuntime({ env: environment([signer]) });
t.teardown(() => runtime.close());

const good = {
  runtime,
  path: '/live',
  upstream: 'wss://engine.example/nyxdb',
  origins: ['https://app.example'],
  engineRequiresAuth: true,
} satisfies NyxdbEdgeOptions;

/** `name: problem` of every fault, in order. */
function faultsOf(options: unknown): string[] {
  try {
    createNyxdbEdge(options as NyxdbEdgeOptions);
  } catch (error) {
    const { code, faults } = error as {
      code: string;
      faults: readonly { name: string; problem: string }[];
    };
    if (code !== 'CONFIGURATION_INVALID') throw error;
    return faults.map(({ name, problem }) => `${name}: ${problem}`);
  }
  return [];
}

t.test('all faults are named at once, and no value', async (t) => {
  const s3cret = 's3cret';
  const options = {
    path: s3cret,
    upstream: `ws://${s3cret}@engine.example`,
    origins: [`https://app.example/${s3cret}`],
    authenticate: s3cret,
    allowAnonymous: s3cret,
    allowMissingOrigin: 1,
    allowRemote: {},
    limits: { maxRequestBytes: 0, maxHeldFrames: 1.5, lowWaterBytes: 2_000_000, unknown: 1 },
    deadlines: { authMs: Number.POSITIVE_INFINITY, lifeMs: s3cret },
    tokens: s3cret,
  };
  t.same(faultsOf(options), [
    'runtime: is missing: the runtime of createRuntime(), or of the nnumbers plugin or middleware',
    'path: must be a path such as /live',
    'upstream: must have no user, query or fragment',
    'allowMissingOrigin: must be true or false',
    'origins: must be origins as browsers send them, such as https://app.example',
    'engineRequiresAuth: must be true: start NYXDB with --require-auth, then say so here',
    'authenticate: must be a function',
    'allowAnonymous: must be true or false',
    'allowRemote: must be a function',
    'limits.maxRequestBytes: must be an integer from 1 to 2147483647',
    'limits.maxHeldFrames: must be an integer from 1 to 2147483647',
    'limits.unknown: is no option',
    'limits.lowWaterBytes: must not be over limits.highWaterBytes',
    'deadlines.authMs: must be an integer from 1 to 2147483647',
    'deadlines.lifeMs: must be an integer from 1 to 2147483647',
    'tokens: is no option',
  ]);
  try {
    createNyxdbEdge(options as never);
  } catch (error) {
    t.notMatch(`${inspect(error)} ${JSON.stringify(error)}`, s3cret);
  }
  t.ok(faultsOf(undefined).length >= 5);
});

t.test(
  'without the word of the operator that the engine requires authentication, nothing starts (E12)',
  async (t) => {
    const said = 'engineRequiresAuth: must be true: start NYXDB with --require-auth, then say so here';
    for (const engineRequiresAuth of [undefined, false, 'true', 1, null])
      t.same(faultsOf({ ...good, engineRequiresAuth }), [said]);
    t.same(faultsOf(good), []);
  },
);

t.test('the engine is spoken to over TLS, on loopback, or in a network trusted in words (E1)', async (t) => {
  const problem = 'upstream: must be wss: off loopback (or trustedNetwork: true)';
  for (const upstream of [
    'ws://engine.example',
    'ws://10.0.0.7:8091',
    'ws://127.0.0.1.example',
    'ws://nyxdb:8091',
  ]) {
    t.same(faultsOf({ ...good, upstream }), [problem], upstream);
    t.same(faultsOf({ ...good, upstream, trustedNetwork: true }), [], upstream);
  }
  for (const upstream of [
    'ws://127.0.0.1:8091',
    'ws://localhost',
    'ws://a.localhost:1',
    'ws://[::1]:8091/a',
    new URL('wss://engine.example'),
  ])
    t.same(faultsOf({ ...good, upstream }), [], String(upstream));
  for (const upstream of ['https://engine.example', 'engine', '', undefined, 7])
    t.same(faultsOf({ ...good, upstream }), ['upstream: must be a ws: or wss: URL'], String(upstream));
  for (const upstream of [
    'wss://engine.example/?token=a',
    'wss://engine.example/#a',
    'wss://a:b@engine.example',
  ])
    t.same(faultsOf({ ...good, upstream }), ['upstream: must have no user, query or fragment'], upstream);
});

t.test('origins are exact (E2)', async (t) => {
  for (const origins of [
    ['*'],
    ['null'],
    ['https://app.example/'],
    ['https://app.example:443'],
    ['HTTPS://app.example'],
    ['app.example'],
    ['ftp://app.example'],
    [undefined],
  ])
    t.equal(faultsOf({ ...good, origins }).length, 1, String(origins));
  t.same(faultsOf({ ...good, origins: [] }), ['origins: must name at least one origin']);
  t.same(faultsOf({ ...good, origins: 'https://app.example' }), ['origins: must be an array of origins']);
  t.same(faultsOf({ ...good, origins: [], allowMissingOrigin: true }), []);
  t.same(faultsOf({ ...good, origins: ['http://127.0.0.1:8080', 'https://app.example:8443'] }), []);
});

t.test('paths', async (t) => {
  for (const path of ['live', '', '/a?b', '/a#b', '/.nnumbers/live', '/.nnumbers', '/a b', 7])
    t.same(faultsOf({ ...good, path }), ['path: must be a path such as /live'], String(path));
  for (const path of ['/', '/live', '/a/b', '/.nnumbers-live', '/%41'])
    t.same(faultsOf({ ...good, path }), [], path);
});

t.test('what only makes sense where clients authenticate themselves', async (t) => {
  const authenticate = () => null;
  const alone = 'is only for clients that authenticate themselves: leave out authenticate';
  t.same(faultsOf({ ...good, authenticate, allowAnonymous: true, allowCapability: true }), [
    `allowAnonymous: ${alone}`,
    `allowCapability: ${alone}`,
  ]);
  t.same(faultsOf({ ...good, allowAnonymous: true, allowCapability: true }), []);
  t.same(faultsOf({ ...good, authenticate, allowAnonymous: false }), []);
});

t.test('every option may be undefined', async (t) => {
  const options = {
    ...good,
    authenticate: undefined,
    allowAnonymous: undefined,
    allowMissingOrigin: undefined,
    allowCapability: undefined,
    allowRemote: undefined,
    trustedNetwork: undefined,
    limits: { maxRelays: undefined },
    deadlines: undefined,
    clock: undefined,
    random: undefined,
  } satisfies NyxdbEdgeOptions;
  t.same(faultsOf(options), []);
  t.same(faultsOf({ ...good, limits: null }), ['limits: must be an object']);
  t.same(faultsOf({ ...good, runtime: {} as Runtime }).length, 1);
});
