import { createPublicKey, verify } from 'node:crypto';
import { createRuntime, type Runtime } from '@nn-runtime/core';
import { JwtVerifier } from 'aws-jwt-verify';
import { createVerifier } from 'fast-jwt';
import { createLocalJWKSet, jwtVerify } from 'jose';
import { base64url, claims, environment, headerOf, makeKey, signParts } from '../test/tokens.js';
import { type Measured, machine, measure, table, targetTable } from './turns.js';

/** How fast an identity is checked, beside the raw signature check and beside other libraries. */

const ISSUER = 'https://identity.nnumbers.example';
const APP_ID = 'app-7f3a';
const key = makeKey('k1');

const verifyingKey = { key: createPublicKey(key.privateKey), dsaEncoding: 'ieee-p1363' as const };
const pem = verifyingKey.key.export({ type: 'spki', format: 'pem' }).toString();
const sign = (changes: Record<string, unknown>, header = headerOf(key)): string =>
  signParts(
    key,
    JSON.stringify(header),
    JSON.stringify(claims({ exp: Date.now() / 1000 + 3_000, ...changes }, Date.now())),
  );

const AT_ONCE = 64;
const unique = Array.from({ length: 4_096 }, (_, index) => sign({ sub: `person-${index}` }));
const people = unique.slice(0, 1_000);
const warmUp = sign({ sub: 'warm-up' });
const one = people[0] ?? '';
const strangers = Array.from({ length: 1_000 }, (_, index) =>
  sign({}, headerOf(key, { kid: `junk-${index}` })),
);
const badSignature = unique.map((compact, index) => {
  const [head, payload] = compact.split('.');
  return `${head}.${payload}.${unique[(index + 1) % unique.length]?.split('.')[2]}`;
});
const noise = Array.from({ length: 64 }, (_, index) => {
  const text = base64url(Buffer.alloc(6_200, `${index} noise ÿ`)).slice(0, 8_000 - 88);
  return `${text.slice(0, 4_000)}.${text.slice(4_000)}.${'A'.repeat(86)}`;
});

const parsed = new Map(
  [...unique, ...badSignature].map((compact) => {
    const end = compact.lastIndexOf('.');
    return [
      compact,
      {
        input: Buffer.from(compact.slice(0, end)),
        signature: Buffer.from(compact.slice(end + 1), 'base64url'),
      },
    ];
  }),
);
const raw = (tokens: readonly string[]) => (count: number) => {
  for (let index = 0; index < count; index += 1) {
    const token = parsed.get(tokens[index % tokens.length] ?? '');
    if (token !== undefined) verify('sha256', token.input, verifyingKey, token.signature);
  }
};

// The limit of whatever checks signatures on the thread pool, as ours does.
const rawAsynchronous = async (count: number): Promise<void> => {
  for (let index = 0; index < count; index += AT_ONCE) {
    const some = Array.from({ length: Math.min(AT_ONCE, count - index) }, (_, more) => {
      const token = parsed.get(unique[(index + more) % unique.length] ?? '');
      return new Promise((resolve) => {
        if (token !== undefined) verify('sha256', token.input, verifyingKey, token.signature, resolve);
      });
    });
    await Promise.all(some);
  }
};

let runtime: Runtime;
const makeRuntime = (): Runtime =>
  createRuntime({
    env: environment([key]),
    fetch: async () => Response.json({ keys: [makeKey('other').jwk] }),
  });
const inTurn = (tokens: readonly string[]) => async (count: number) => {
  for (let index = 0; index < count; index += 1) {
    try {
      await runtime.authenticate(tokens[index % tokens.length]);
    } catch {
      // Refused.
    }
  }
};
const together = (tokens: readonly string[]) => async (count: number) => {
  for (let index = 0; index < count; index += AT_ONCE) {
    const some = Array.from({ length: Math.min(AT_ONCE, count - index) }, (_, more) =>
      runtime.authenticate(tokens[(index + more) % tokens.length]).catch(() => undefined),
    );
    await Promise.all(some);
  }
};
const anew =
  (tokens: readonly string[] = []) =>
  async () => {
    runtime = makeRuntime();
    // The first identity of a runtime pays for what is made once.
    await runtime.authenticate(warmUp);
    await Promise.all(tokens.map((token) => runtime.authenticate(token)));
  };

const { x, y } = key.jwk as { x: string; y: string };
const keySet = { keys: [{ kty: 'EC' as const, crv: 'P-256', x, y, kid: 'k1', alg: 'ES256', use: 'sig' }] };
const joseKeys = createLocalJWKSet(keySet);
const joseOptions = {
  issuer: ISSUER,
  audience: APP_ID,
  algorithms: ['ES256'],
  typ: 'nn-identity+jwt',
  clockTolerance: 60,
};
const fastJwtOptions = {
  key: pem,
  algorithms: ['ES256' as const],
  allowedIss: ISSUER,
  allowedAud: APP_ID,
  clockTolerance: 60_000,
  checkTyp: 'nn-identity+jwt',
};
const fastJwt = createVerifier({ ...fastJwtOptions, cache: 10_000 });
const aws = JwtVerifier.create({
  issuer: ISSUER,
  audience: APP_ID,
  jwksUri: 'https://keys.example/jwks',
  graceSeconds: 60,
});
aws.cacheJwks(keySet);
const each = (tokens: readonly string[], check: (token: string) => unknown) => async (count: number) => {
  for (let index = 0; index < count; index += 1) {
    try {
      const result = check(tokens[index % tokens.length] ?? '');
      if (result instanceof Promise) await result;
    } catch {
      // Refused.
    }
  }
};

export async function run(): Promise<void> {
  const measured = await measure(
    [
      { name: 'raw verify', run: raw(unique) },
      { name: 'raw verify, bad signature', run: raw(badSignature) },
      { name: 'raw verify, asynchronous', run: rawAsynchronous },
      { name: 'ours, same token', before: anew([one]), run: inTurn([one]) },
      { name: 'ours, 1,000 people', before: anew(people), run: inTurn(people) },
      { name: 'ours, unique tokens', before: anew(), run: together(unique) },
      { name: 'ours, bad signature', before: anew(), run: together(badSignature) },
      { name: 'ours, unknown key ID', before: anew(), run: together(strangers) },
      { name: 'ours, 8 KB noise', before: anew(), run: inTurn(noise) },
      { name: 'jose', run: each(unique, (token) => jwtVerify(token, joseKeys, joseOptions)) },
      {
        name: 'fast-jwt, same token, cached',
        before: () => fastJwt(one),
        run: each([one], (token) => fastJwt(token)),
      },
      {
        name: 'fast-jwt, 1,000 people, cached',
        before: () => people.forEach((token) => void fastJwt(token)),
        run: each(people, (token) => fastJwt(token)),
      },
      { name: 'fast-jwt, no cache', run: each(unique, createVerifier(fastJwtOptions)) },
      { name: 'aws-jwt-verify', run: each(unique, (token) => aws.verifySync(token)) },
    ],
    { rounds: Number(process.env.ROUNDS ?? 15), turnMs: Number(process.env.TURN_MS ?? 150) },
  );

  const of = (name: string): Measured => {
    const found = measured.find((each) => each.name === name);
    if (found === undefined) throw new Error(name);
    return found;
  };
  const limit = of('raw verify');
  const us = (ns: number): string => (ns / 1_000).toFixed(2);
  console.log(
    table(
      ['participant', 'CPU µs', 'wall µs', 'event loop µs', '× raw (CPU)'],
      measured.map(({ name, cpuNs, wallNs, loopNs }) => [
        name,
        us(cpuNs),
        us(wallNs),
        us(loopNs),
        (limit.cpuNs / cpuNs).toFixed(2),
      ]),
    ),
  );

  const bestHit = Math.min(
    of('fast-jwt, same token, cached').cpuNs,
    of('jose').cpuNs,
    of('aws-jwt-verify').cpuNs,
  );
  const bestHit1000 = Math.min(
    of('fast-jwt, 1,000 people, cached').cpuNs,
    of('jose').cpuNs,
    of('aws-jwt-verify').cpuNs,
  );
  const targets: readonly [name: string, reached: number, target: number][] = [
    ['same token, × raw', limit.cpuNs / of('ours, same token').cpuNs, 150],
    ['1,000 people, × raw', limit.cpuNs / of('ours, 1,000 people').cpuNs, 150],
    ['same token, × best peer', bestHit / of('ours, same token').cpuNs, 6],
    ['1,000 people, × best peer', bestHit1000 / of('ours, 1,000 people').cpuNs, 6],
    ['unique tokens, of raw in CPU', limit.cpuNs / of('ours, unique tokens').cpuNs, 0.8],
    ['unique tokens, less event-loop blocking, ×', limit.loopNs / of('ours, unique tokens').loopNs, 3],
    [
      'bad signature, of raw in CPU',
      of('raw verify, bad signature').cpuNs / of('ours, bad signature').cpuNs,
      0.9,
    ],
    ['8 KB noise, × raw', limit.cpuNs / of('ours, 8 KB noise').cpuNs, 15],
  ];
  console.log(`\n${targetTable(targets)}\n\n${machine()}`);
}
