import { spawn } from 'node:child_process';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { inspect } from 'node:util';
import { createRuntime, RuntimeError } from '@nn-runtime/core';
import t from 'tap';
import { answerJson, answerKeys, startScriptedBroker } from '../broker.js';
import { frameworks } from '../frameworks.js';
import { environment, makeKey, NOW_MS, type SigningKey, token } from '../tokens.js';

/** No token, claim, key ID or SQL in anything that is printed, logged, published or answered (design I11, I12, Q8). */

const CANARY = 'canary-7d1c';
const SQL = `SELECT '${CANARY}-sql' FROM t`;
const key = makeKey(`${CANARY}-kid`);
const now = NOW_MS / 1000;

/** Every claim, and a claim of its own, says the word. */
const TELLING = {
  sub: `${CANARY}-sub`,
  jti: `${CANARY}-jti`,
  sid: `${CANARY}-sid`,
  iam: `${CANARY}-iam`,
  org_slug: `${CANARY}-slug`,
  name: `${CANARY}-name`,
  email: `${CANARY}@example.org`,
  preferred_username: `${CANARY}-user`,
  note: { deep: [`${CANARY}-note`] },
};
const telling = (signer: SigningKey, claims: object = {}, header: Record<string, unknown> = {}): string =>
  token(signer, { ...TELLING, ...claims }, header);
const good = telling(key);
const [head = '', payload = '', signature = ''] = good.split('.');

const REFUSED: Record<string, string | string[]> = {
  repeated: [good, good],
  joined: `${good},${good}`,
  empty: '',
  'too long': good.repeat(10),
  malformed: `${good}.${CANARY}`,
  'no token': CANARY,
  algorithm: telling(key, {}, { alg: `${CANARY}-alg` }),
  type: telling(key, {}, { typ: `${CANARY}-typ` }),
  critical: telling(key, {}, { crit: [`${CANARY}-crit`], [`${CANARY}-crit`]: 1 }),
  'key-id': telling(key, {}, { kid: `${CANARY}\n` }),
  'unknown-key': telling(key, {}, { kid: `${CANARY}-other`, jku: `http://${CANARY}.example/` }),
  signature: telling(makeKey(`${CANARY}-kid`)),
  claims: telling(key, { email: [`${CANARY}@example.org`] }),
  issuer: telling(key, { iss: `https://${CANARY}.example` }),
  audience: telling(key, { aud: `${CANARY}-aud` }),
  organization: telling(key, { org: `${CANARY}-org` }),
  'not-yet-valid': telling(key, { nbf: now + 3_000 }),
  expired: telling(key, { iat: now - 900, nbf: now - 900, exp: now - 600 }),
  lifetime: telling(key, { exp: now + 36_000 }),
};

/** Stretches of a token, so that a part of one is found as well. */
function stretches(compact: string): string[] {
  return compact.split(/[.,]/).flatMap((part) => part.match(/.{24}/g) ?? []);
}
const TOKENS = new Set([good, ...Object.values(REFUSED).flat()].flatMap(stretches));
// What every token of these tests shares, and is no secret of one: the JOSE header's beginning.
for (const shared of stretches(Buffer.from('{"alg":"ES256","typ":"nn-identity+jwt"').toString('base64url'))) {
  TOKENS.delete(shared);
}
TOKENS.delete('x'.repeat(24));

const tokensIn = (text: string): string[] => [...TOKENS].filter((stretch) => text.includes(stretch));
const secretsIn = (text: string): string[] => [...(text.includes(CANARY) ? [CANARY] : []), ...tokensIn(text)];

/** A value by every way it could be printed. */
function shown(value: unknown): string {
  const texts = [
    String(value),
    JSON.stringify(value) ?? '',
    inspect(value, {
      showHidden: true,
      depth: null,
      getters: true,
      maxStringLength: null,
      maxArrayLength: null,
    }),
  ];
  for (let at: unknown = value; at instanceof Error; at = at.cause)
    texts.push(at.message, at.stack ?? '', at.name);
  return texts.join('\n');
}

t.test('the search finds what it is there to find', async (t) => {
  t.ok(head.length > 24 && payload.length > 24 && signature.length > 24);
  for (const text of [good, `x${payload.slice(0, 60)}`, signature, `a ${CANARY} b`]) {
    t.not(secretsIn(text).length, 0);
  }
  t.not(secretsIn(shown(Object.assign(new Error('x'), { token: good }))).length, 0);
  t.not(secretsIn(shown(new Error('x', { cause: new Error(good) }))).length, 0);
  t.not(secretsIn(shown(Object.defineProperty(new Error('x'), 'hidden', { value: good }))).length, 0);
  t.strictSame(secretsIn(shown(new Error('x'))), []);
});

const CHANNELS = ['identity.verified', 'identity.refused', 'keys.refreshed', 'keys.warning', 'query'].map(
  (name) => `nn-runtime:${name}`,
);

t.test('directly: errors, events, the hook, the runtime and the caller', async (t) => {
  const broker = await startScriptedBroker();
  const other = makeKey(`${CANARY}-broker`);
  // A set that gives cause for every warning, under telling names.
  broker.onKeys(
    answerKeys(
      other,
      makeKey(`${CANARY}-twice`),
      makeKey(`${CANARY}-twice`),
      makeKey(`${CANARY}-kid`),
      { jwk: { kty: 'oct', k: CANARY, kid: `${CANARY}-oct` } },
      { jwk: { ...makeKey('d').privateKey.export({ format: 'jwk' }), kid: `${CANARY}-private` } },
    ),
  );
  const told: string[] = [];
  const seen = new Set<string>();
  const listener = (event: unknown, name: string | symbol): void => {
    seen.add(String(name));
    told.push(shown(event));
  };
  for (const name of CHANNELS) subscribe(name, listener);
  const runtime = createRuntime({
    env: environment([key], broker.url),
    now: () => NOW_MS,
    onRefused: (refusal) => told.push(shown(refusal)),
  });
  t.teardown(async () => {
    for (const name of CHANNELS) unsubscribe(name, listener);
    await runtime.close();
    await broker.close();
  });

  for (const [name, header] of Object.entries(REFUSED)) {
    const error = await runtime.authenticate(header).catch((thrown: unknown) => thrown);
    t.ok(error instanceof RuntimeError, name);
    t.strictSame(secretsIn(shown(error)), [], `the error of ${name}`);
  }

  const caller = await runtime.authenticate(good);
  await runtime.authenticate(good);
  t.strictSame(tokensIn(shown(caller)), [], 'the caller has claims, and not the token');
  t.strictSame(secretsIn(shown(caller.queryMesh)), [], 'the query function');
  t.match(shown(caller.identity), CANARY, 'claims are there for the application');
  t.strictSame(secretsIn(shown(runtime)), [], 'the runtime, with identities and keys in it');
  t.strictSame(secretsIn(shown(runtime.status())), [], 'its status');

  const echo = { message: `no table in ${SQL} for ${good}` };
  const answers: Record<string, Parameters<typeof broker.onQuery>[0]> = {
    success: answerJson(200, { columns: [{ name: 'a', type: 'varchar' }], rows: [[`${CANARY}-row`]] }),
    refused: answerJson(422, { code: 'QUERYMESH_QUERY_FAILED', ...echo }),
    denied: answerJson(403, { code: 'QUERYMESH_ACCESS_DENIED', ...echo }),
    'signed out': answerJson(401, { code: 'USER_SESSION_REQUIRED', ...echo }),
    'another protocol': answerJson(500, echo),
    'a broken body': (_request, response) => response.writeHead(200).end(`{"columns": ${good} ${SQL}`),
    'a reset': (request) => request.socket.resetAndDestroy(),
  };
  for (const [name, answer] of Object.entries(answers)) {
    broker.onQuery(answer);
    const error = await caller.queryMesh(SQL).catch((thrown: unknown) => thrown);
    if (name === 'success') continue;
    t.ok(error instanceof RuntimeError, name);
    // `inspect` with hidden members is the one that may show what a property holds that nothing prints by itself.
    const printed = [
      String(error),
      JSON.stringify(error),
      inspect(error, { depth: null }),
      (error as Error).stack,
    ];
    t.strictSame(secretsIn(printed.join('\n')), [], `the error of a query: ${name}`);
  }
  for (const wrong of [{ maxRows: 0 }, { timeoutMs: -1 }, { bigint: CANARY as 'auto' }]) {
    const error = await caller.queryMesh(SQL, wrong).catch((thrown: unknown) => thrown);
    t.strictSame(secretsIn(shown(error)), [], `the error of a wrong argument: ${Object.keys(wrong)}`);
  }

  t.strictSame([...seen].sort(), [...CHANNELS].sort(), 'every channel has spoken');
  t.ok(told.length > 20);
  t.strictSame(secretsIn(told.join('\n')), [], 'events and hook');
});

for (const framework of frameworks) {
  t.test(
    `${framework.name}, in a process of its own: answers, standard output and standard error`,
    async (t) => {
      const broker = await startScriptedBroker();
      broker.onKeys(answerKeys(makeKey('kb')));
      broker.onQuery(
        answerJson(422, { code: 'QUERYMESH_QUERY_FAILED', message: `no table in ${SQL} for ${good}` }),
      );
      const child = spawn(process.execPath, ['--import=tsx', 'test/serve.ts', framework.name], {
        env: { ...process.env, ...environment([key], broker.url) },
        stdio: ['pipe', 'pipe', 'pipe'],
      });
      const written: string[] = [];
      const port = new Promise<string>((resolve) => {
        createInterface({ input: child.stdout }).on('line', (line) => {
          written.push(line);
          const [, found] = /^port (\d+)$/.exec(line) ?? [];
          if (found !== undefined) resolve(found);
        });
      });
      createInterface({ input: child.stderr }).on('line', (line) => written.push(line));
      t.teardown(async () => {
        child.kill();
        await broker.close();
      });
      const url = `http://127.0.0.1:${await port}`;

      for (const [name, header] of Object.entries(REFUSED)) {
        const headers = [header].flat().map((value): [string, string] => ['X-NNumbers-Identity', value]);
        for (const target of ['/me', '/private', '/nowhere']) {
          const response = await fetch(url + target, { headers });
          t.equal(response.status, 401, name);
          t.strictSame(secretsIn(shown([...response.headers]) + (await response.text())), [], name);
        }
      }
      const headers = { 'X-NNumbers-Identity': good };
      const me = await fetch(`${url}/me`, { headers });
      const person = await me.text();
      t.match(person, CANARY, 'the handler sends claims of its own will');
      t.strictSame(tokensIn(shown([...me.headers]) + person), [], 'and has no token to send');
      const query = await fetch(`${url}/query`, { method: 'POST', headers, body: SQL });
      t.equal(query.status, 422);
      t.strictSame(secretsIn(shown([...query.headers]) + (await query.text())), [], 'a query that failed');
      const caught = await fetch(`${url}/caught`, { headers });
      t.strictSame(await caught.json(), { caught: 'QUERYMESH_QUERY_FAILED' });

      const ended = once(child, 'close');
      child.stdin.end();
      t.strictSame(await ended, [0, null], 'it ends by itself');
      const output = written.join('\n');
      t.match(output, "reason: 'signature'", 'the application logs the reasons it is told');
      if (framework.name === 'Fastify 5')
        t.match(output, '"msg":"incoming request"', 'Fastify logs requests');
      t.strictSame(secretsIn(output), []);
    },
  );
}
