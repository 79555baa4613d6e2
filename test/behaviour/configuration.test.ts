import { execFile } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { inspect } from 'node:util';
import { ConfigurationError, createRuntime, type RuntimeOptions } from '@nn-runtime/core';
import { nnumbers as middleware } from '@nn-runtime/express';
import nnumbers from '@nn-runtime/fastify';
import Fastify from 'fastify';
import t from 'tap';
import { answerKeys, startScriptedBroker } from '../broker.js';
import { environment, makeKey, NOW_MS, token } from '../tokens.js';

/** A wrong configuration stops the start, names every fault at once and shows no value (reference cases 38, 54, 55; design I5, I6). */

const key = makeKey('k1');
const right = environment([key], 'http://127.0.0.1:9');
const CANARY = 'do-not-show-me';

/** What `createRuntime` says is wrong, as `name: problem`. */
function faultsOf(env: unknown, options: Record<string, unknown> = {}): string[] {
  try {
    Reflect.apply(createRuntime, undefined, [{ ...options, env }]);
    return [];
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    return error.faults.map(({ name, problem }) => `${name}: ${problem}`);
  }
}

const JWKS = 'NNUMBERS_IDENTITY_JWKS';
const NOT_A_SET = `${JWKS}: must be a JWK set as JSON ({"keys":[…]}), or an http(s) URL of one`;
const NO_KEY = `${JWKS}: holds no usable P-256 signing key with a key ID`;
const PRIVATE = `${JWKS}: holds a private key`;
const OFF_CURVE = `${JWKS}: holds a key whose point is not on P-256`;
const set = (...keys: unknown[]): string => JSON.stringify({ keys });
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const ed25519 = generateKeyPairSync('ed25519');
const offCurve = { ...key.jwk, kid: 'off', y: key.jwk.x };

t.test('everything wrong is named at once, in order', async (t) => {
  t.strictSame(faultsOf({}), [
    'NNUMBERS_IDENTITY_JWKS: is missing',
    'NNUMBERS_BROKER_URL: is missing',
    'NNUMBERS_IDENTITY_ISSUER: is missing',
    'NNUMBERS_APP_ID: is missing',
    'NNUMBERS_ORG_ID: is missing',
  ]);
  const allWrong = {
    clockToleranceSeconds: 61,
    maxIdentities: -1,
    maxResponseBytes: 0,
    timeoutMs: 0.5,
    keySetTimeoutMs: 5_001,
    fetch: 'fetch',
    now: 0,
    random: {},
    onRefused: true,
  };
  const env = {
    NNUMBERS_IDENTITY_JWKS: '{}',
    NNUMBERS_BROKER_URL: 'broker:8090',
    NNUMBERS_IDENTITY_ISSUER: '',
    NNUMBERS_APP_ID: ' ',
  };
  t.strictSame(
    faultsOf(env, allWrong).sort(),
    [
      NOT_A_SET,
      'NNUMBERS_APP_ID: is empty',
      'NNUMBERS_BROKER_URL: must be an http(s) URL',
      'NNUMBERS_IDENTITY_ISSUER: is empty',
      'NNUMBERS_ORG_ID: is missing',
      'clockToleranceSeconds: must be a number of seconds from 0 to 60',
      'fetch: must be a function',
      'keySetTimeoutMs: must be an integer from 1 to 5000',
      'maxIdentities: must be an integer from 0 to 10000000',
      'maxResponseBytes: must be an integer from 1 to 2147483647',
      'now: must be a function',
      'onRefused: must be a function',
      'random: must be a function',
      'timeoutMs: must be an integer from 1 to 2147483647',
    ].sort(),
  );
});

const variables: readonly (readonly [variable: string, value: unknown, ...faults: string[]])[] = [
  ...['NNUMBERS_BROKER_URL', 'NNUMBERS_IDENTITY_ISSUER', 'NNUMBERS_APP_ID', 'NNUMBERS_ORG_ID', JWKS].flatMap(
    (name) => [
      [name, undefined, `${name}: is missing`] as const,
      [name, '', `${name}: is empty`] as const,
      [name, ' \n', `${name}: is empty`] as const,
      [name, 7, `${name}: is missing`] as const,
    ],
  ),
  ['NNUMBERS_BROKER_URL', 'broker', 'NNUMBERS_BROKER_URL: must be an http(s) URL'],
  ['NNUMBERS_BROKER_URL', '//broker', 'NNUMBERS_BROKER_URL: must be an http(s) URL'],
  ['NNUMBERS_BROKER_URL', 'ftp://broker', 'NNUMBERS_BROKER_URL: must be an http(s) URL'],
  ['NNUMBERS_BROKER_URL', 'file:///etc/passwd', 'NNUMBERS_BROKER_URL: must be an http(s) URL'],
  ['NNUMBERS_BROKER_URL', 'data:application/json,{}', 'NNUMBERS_BROKER_URL: must be an http(s) URL'],
  ['NNUMBERS_BROKER_URL', 'http://', 'NNUMBERS_BROKER_URL: must be an http(s) URL'],
  ['NNUMBERS_BROKER_URL', 'http://a:99999', 'NNUMBERS_BROKER_URL: must be an http(s) URL'],
  ['NNUMBERS_BROKER_URL', 'http://me:pass@broker', 'NNUMBERS_BROKER_URL: must not hold credentials'],
  ['NNUMBERS_BROKER_URL', 'http://me@broker', 'NNUMBERS_BROKER_URL: must not hold credentials'],
  ['NNUMBERS_BROKER_URL', 'http://broker?a=1', 'NNUMBERS_BROKER_URL: must not have a query or a fragment'],
  ['NNUMBERS_BROKER_URL', 'http://broker/#a', 'NNUMBERS_BROKER_URL: must not have a query or a fragment'],
  ['NNUMBERS_BROKER_URL', 'https://broker.example/base/'],
  [JWKS, '{', NOT_A_SET],
  [JWKS, 'null', NOT_A_SET],
  [JWKS, '[]', NOT_A_SET],
  [JWKS, '{}', NOT_A_SET],
  [JWKS, '{"keys":{}}', NOT_A_SET],
  [JWKS, '{"keys":null}', NOT_A_SET],
  [JWKS, JSON.stringify(key.jwk), NOT_A_SET],
  [JWKS, `\ufeff${set(key.jwk)}`, NOT_A_SET],
  [JWKS, 'ftp://keys.example/jwks', NOT_A_SET],
  [JWKS, '/etc/jwks.json', NOT_A_SET],
  [JWKS, set(), NO_KEY],
  [JWKS, set(null), NO_KEY],
  [JWKS, set({ ...key.jwk, kid: undefined }), NO_KEY],
  [JWKS, set({ ...key.jwk, kid: '' }), NO_KEY],
  [JWKS, set({ ...key.jwk, kid: 7 }), NO_KEY],
  [JWKS, set({ ...key.jwk, kid: 'k'.repeat(129) }), NO_KEY],
  [JWKS, set({ ...key.jwk, use: 'enc' }), NO_KEY],
  [JWKS, set({ ...key.jwk, key_ops: ['sign'] }), NO_KEY],
  [JWKS, set({ ...key.jwk, alg: 'ES384' }), NO_KEY],
  [JWKS, set({ ...key.jwk, x: `${key.jwk.x}A` }), NO_KEY],
  [JWKS, set({ ...rsa.publicKey.export({ format: 'jwk' }), kid: 'r' }), NO_KEY],
  [JWKS, set({ ...ed25519.publicKey.export({ format: 'jwk' }), kid: 'e' }), NO_KEY],
  [JWKS, set(key.jwk, { ...makeKey('k1').jwk }), NO_KEY],
  [JWKS, set({ ...key.privateKey.export({ format: 'jwk' }), kid: 'k1' }), PRIVATE],
  [JWKS, set(key.jwk, { ...makeKey('k2').privateKey.export({ format: 'jwk' }), kid: 'k2' }), PRIVATE],
  [JWKS, set(key.jwk, { ...rsa.privateKey.export({ format: 'jwk' }), kid: 'r' }), PRIVATE],
  [JWKS, set(key.jwk, { ...key.jwk, d: null }), PRIVATE],
  [JWKS, set(offCurve), OFF_CURVE],
  [JWKS, set(key.jwk, offCurve), OFF_CURVE],
  [JWKS, 'http://me:pass@keys.example/jwks', `${JWKS}: must not hold credentials`],
  [JWKS, 'https://', `${JWKS}: must be an http(s) URL`],
  [JWKS, 'https://keys.example/jwks?v=1'],
  [JWKS, 'HTTPS://keys.example/jwks'],
  [JWKS, set(key.jwk)],
  [JWKS, ` ${set(key.jwk)}\n`],
  [JWKS, set(key.jwk, key.jwk)],
  [JWKS, set({ ...key.jwk, use: 'sig', alg: 'ES256', key_ops: ['verify'], x5t: 'x' })],
  [
    JWKS,
    set(null, { kty: 'oct', k: 'AA' }, { ...ed25519.publicKey.export({ format: 'jwk' }), kid: 'e' }, key.jwk),
  ],
];

t.test('each variable', async (t) => {
  for (const [variable, value, ...faults] of variables) {
    t.strictSame(
      faultsOf({ ...right, [variable]: value }),
      faults,
      `${variable}=${String(value).slice(0, 60)}`,
    );
  }
});

const TOLERANCE = 'clockToleranceSeconds: must be a number of seconds from 0 to 60';
const options: readonly (readonly [option: string, value: unknown, ...faults: string[]])[] = [
  ...[3_600, 60.001, -1, -0.001, Number.NaN, Number.POSITIVE_INFINITY, '30', null, true, [], {}].map(
    (value) => ['clockToleranceSeconds', value, TOLERANCE] as const,
  ),
  ...[0, 0.5, 60, undefined].map((value) => ['clockToleranceSeconds', value] as const),
  ...[-1, 1.5, Number.NaN, '9', null, 10_000_001].map(
    (value) => ['maxIdentities', value, 'maxIdentities: must be an integer from 0 to 10000000'] as const,
  ),
  ...[0, -1, Number.POSITIVE_INFINITY, 2 ** 31].map(
    (value) => ['timeoutMs', value, 'timeoutMs: must be an integer from 1 to 2147483647'] as const,
  ),
  ...[0, 5_001, Number.NaN].map(
    (value) => ['keySetTimeoutMs', value, 'keySetTimeoutMs: must be an integer from 1 to 5000'] as const,
  ),
  ...['fetch', 'now', 'random', 'onRefused'].flatMap((name) => [
    [name, null, `${name}: must be a function`] as const,
    [name, 'x', `${name}: must be a function`] as const,
    [name, undefined] as const,
  ]),
];

t.test('each option', async (t) => {
  for (const [option, value, ...faults] of options) {
    t.strictSame(faultsOf(right, { [option]: value }), faults, `${option}=${inspect(value)}`);
  }
});

t.test('an option that there is none of is named, and never taken for its default', async (t) => {
  t.strictSame(faultsOf(right, { clockTolerance: 0 }), ['clockTolerance: is no option']);
  t.strictSame(faultsOf({}, { timeOutMs: 1, maxIdentities: -1 }).slice(5).sort(), [
    'maxIdentities: must be an integer from 0 to 10000000',
    'timeOutMs: is no option',
  ]);
  t.strictSame(faultsOf(right, { clockTolerance: undefined }), []);
  t.throws(() => middleware({ env: right, maxidentities: 1 } as object), {
    message: /maxidentities: is no option/,
  });
});

t.test('a runtime handed to an adapter is one, or the start ends', async (t) => {
  const wrong = {
    name: 'ConfigurationError',
    faults: [{ name: 'runtime', problem: 'must be what createRuntime() gives' }],
  };
  for (const runtime of [{}, null, 'runtime', createRuntime]) {
    const options: object = { env: right, runtime };
    t.throws(() => middleware(options), wrong, inspect(runtime));
    const app = Fastify();
    await t.rejects(async () => app.register(nnumbers, options), wrong, inspect(runtime));
    await app.close();
  }
});

t.test('what Fastify itself takes at registration is no option of ours, and no fault', async (t) => {
  const app = Fastify();
  await app.register(nnumbers, { env: right, prefix: '/api', logLevel: 'warn', logSerializers: {} });
  t.equal(app.nnumbers.status().environmentKeys, 1);
  await app.close();
});

t.test('an environment that is none is named as such', async (t) => {
  for (const env of ['NNUMBERS_APP_ID=x', 7, true, [], () => right]) {
    t.match(faultsOf(env), ['env: must be an object of variables'], inspect(env));
  }
});

t.test('the error names and never shows', async (t) => {
  const env = {
    NNUMBERS_IDENTITY_JWKS: set({ ...key.privateKey.export({ format: 'jwk' }), kid: CANARY }),
    NNUMBERS_BROKER_URL: `http://${CANARY}:${CANARY}@broker`,
    NNUMBERS_IDENTITY_ISSUER: '',
    NNUMBERS_APP_ID: CANARY,
    NNUMBERS_ORG_ID: CANARY,
  };
  try {
    createRuntime({ env, maxIdentities: -4_711 });
    t.fail('started');
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    t.equal(
      error.message,
      [
        'nn-runtime is not configured correctly:',
        '  NNUMBERS_BROKER_URL: must not hold credentials',
        '  NNUMBERS_IDENTITY_ISSUER: is empty',
        '  NNUMBERS_IDENTITY_JWKS: holds a private key',
        '  maxIdentities: must be an integer from 0 to 10000000',
      ].join('\n'),
    );
    t.match(error, { name: 'ConfigurationError', code: 'CONFIGURATION_INVALID', statusCode: 500 });
    t.equal(error.cause, undefined);
    t.ok(Object.isFrozen(error.faults));
    const shown = inspect(error, { showHidden: true, depth: null }) + JSON.stringify(error) + error.stack;
    t.notMatch(shown, CANARY);
    t.notMatch(shown, String(key.privateKey.export({ format: 'jwk' }).d));
    t.notMatch(shown, '4711');
  }
});

t.test('the adapters stop the start as well', async (t) => {
  t.throws(() => middleware({ env: {} }), { name: 'ConfigurationError' });
  const app = Fastify();
  await t.rejects(async () => app.register(nnumbers, { env: {} }), { name: 'ConfigurationError' });
  await app.close();
});

t.test('the environment is that of the process by default', async (t) => {
  const program = `import('@nn-runtime/core').then(({ createRuntime }) => {
    try { console.log(JSON.stringify(createRuntime().status())); } catch (error) { console.log(error.faults.length); }
  });`;
  const run = (env: Record<string, string>): Promise<string> =>
    new Promise((resolve, reject) => {
      execFile(process.execPath, ['--eval', program], { env }, (error, stdout, stderr) =>
        error === null ? resolve(stdout + stderr) : reject(error),
      );
    });
  t.equal(await run({}), '5\n');
  t.equal(await run(right), '{"environmentKeys":1,"brokerKeys":0,"lastRefresh":"never","identities":0}\n');
});

t.test('which address is asked', async (t) => {
  const k2 = makeKey('k2');
  const broker = await startScriptedBroker();
  broker.onKeys(answerKeys(k2));
  t.teardown(() => broker.close());
  const url = broker.url;
  const inline = set(key.jwk);
  const addresses: readonly (readonly [
    brokerUrl: string,
    jwks: string,
    keySetUrl: string,
    queryUrl: string,
  ])[] = [
    [url, inline, '/v1/jwks', '/v1/querymesh/query'],
    [`${url}/`, inline, '/v1/jwks', '/v1/querymesh/query'],
    [`${url}///`, inline, '/v1/jwks', '/v1/querymesh/query'],
    [`${url}/base`, inline, '/base/v1/jwks', '/base/v1/querymesh/query'],
    [`${url}/base/`, inline, '/base/v1/jwks', '/base/v1/querymesh/query'],
    [` ${url} \n`, inline, '/v1/jwks', '/v1/querymesh/query'],
    [`${url}/ `, inline, '/v1/jwks', '/v1/querymesh/query'],
    [`${url}/`, `${url}/keys`, '/keys', '/v1/querymesh/query'],
    [`${url}/`, ` ${url}/keys?v=1\n`, '/keys?v=1', '/v1/querymesh/query'],
  ];
  for (const [brokerUrl, jwks, keySetPath, queryPath] of addresses) {
    const asked: string[] = [];
    const options: RuntimeOptions = {
      env: { ...right, NNUMBERS_BROKER_URL: brokerUrl, NNUMBERS_IDENTITY_JWKS: jwks },
      now: () => NOW_MS,
      fetch: (input, init) => {
        const path = new URL(String(input)).href.slice(url.length);
        asked.push(path);
        return fetch(path === keySetPath ? `${url}/v1/jwks` : `${url}/v1/querymesh/query`, init);
      },
    };
    const runtime = createRuntime(options);
    const { identity, queryMesh } = await runtime.authenticate(token(k2));
    t.equal(identity.kind, 'person');
    await queryMesh('SELECT 1');
    t.strictSame(asked, [keySetPath, queryPath], JSON.stringify(brokerUrl.replace(url, '')));
    t.equal(runtime.status().environmentKeys, jwks === inline ? 1 : 0);
    await runtime.close();
  }
});
