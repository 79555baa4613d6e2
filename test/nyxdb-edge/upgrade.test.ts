import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { connect as connectTcp } from 'node:net';
import type { Person } from '@nn-runtime/core';
import t from 'tap';
import { answerJson, startScriptedBroker } from '../broker.js';
import { until } from '../nyxdb/time.js';
import { RawConnection } from '../raw-http.js';
import {
  APP_ID,
  base64url,
  claims,
  environment,
  headerOf,
  makeKey,
  NOW_MS,
  ORG_ID,
  signParts,
  token,
} from '../tokens.js';
import { AUTH, identity, ORIGIN, signer, startEdge } from './edge.js';

const seconds = NOW_MS / 1000;

t.test('Origin: an exact list, and one line (E2, C-61, C-62, C-63)', async (t) => {
  const { connect, edge, engine, handled, refused } = await startEdge(t);
  for (const origin of [
    undefined,
    'null',
    '',
    'http://app.example',
    'https://app.example:8443',
    'https://app.example/',
    'https://APP.example',
    'https://app.example.evil.example',
    'https://evil.example',
    'https://sub.app.example',
    `${ORIGIN}, ${ORIGIN}`,
    [ORIGIN, ORIGIN],
    [ORIGIN, 'https://evil.example'],
    ['https://evil.example', ORIGIN],
  ]) {
    const { headers, status, text } = await refused({ origin });
    t.equal(status, 403, String(origin));
    t.same(JSON.parse(text), {
      code: 'ORIGIN_NOT_ALLOWED',
      message: 'Connections from this origin are not allowed.',
    });
    t.equal(headers['cache-control'], 'no-store');
    t.equal(headers.connection, 'close');
  }
  t.equal(engine.peers.length, 0, 'nothing was opened to the engine');
  t.same(handled, [], 'the application was not asked');
  t.equal(edge.status().refused, 14);
  (await connect()).socket.close();
});

t.test(
  'Origin: none at all passes where clients that are no browsers are allowed in words (E2)',
  async (t) => {
    const { connect, refused } = await startEdge(t, { allowMissingOrigin: true });
    t.equal((await refused({ origin: 'https://evil.example' })).status, 403);
    t.equal((await refused({ origin: 'null' })).status, 403);
    (await connect({ origin: undefined })).socket.close();
  },
);

t.test('the network: whoever may not connect is refused first (E3)', async (t) => {
  const asked: string[] = [];
  const { refused } = await startEdge(t, {
    allowRemote(address) {
      asked.push(address);
      return false;
    },
  });
  const { status, text } = await refused({ origin: undefined });
  t.equal(status, 403);
  t.match(text, /NETWORK_NOT_ALLOWED/);
  t.same(asked, ['127.0.0.1']);
  // As JavaScript may write it.
  for (const answer of [Promise.resolve(false), undefined, 'no', 1]) {
    const { refused } = await startEdge(t, { allowRemote: () => answer as unknown as boolean });
    t.match(await refused(), { status: 403, text: /NETWORK_NOT_ALLOWED/ }, 'only true lets anybody in');
  }
});

t.test(
  'the identity of the upgrade is checked, and nobody is anonymous by mistake (E4, C-64, C-65, C-66)',
  async (t) => {
    const { connect, engine, refused } = await startEdge(t);
    const other = makeKey(signer.kid);
    const parts = (header: Record<string, unknown>, payload: Record<string, unknown> = claims()) =>
      signParts(signer, JSON.stringify(header), JSON.stringify(payload));
    const none = `${base64url(JSON.stringify({ alg: 'none', typ: 'nn-identity+jwt' }))}.${base64url(JSON.stringify(claims()))}.`;
    const wrong: Record<string, string | string[] | undefined> = {
      'alg none': none,
      'HS256 named in the header': parts({ ...headerOf(signer), alg: 'HS256' }),
      'typ JWT': parts({ ...headerOf(signer), typ: 'JWT' }),
      'another key under the same id': token(other),
      'a signature that was changed': `${identity().slice(0, -4)}AAAA`,
      'another application': identity({ aud: `${APP_ID}-other` }),
      'another organization': identity({ org: `${ORG_ID}-other` }),
      'another issuer': identity({ iss: 'https://identity.other.example' }),
      'expired 61 s ago': identity({ iat: seconds - 361, nbf: seconds - 361, exp: seconds - 61 }),
      'not valid for another 61 s': identity({ nbf: seconds + 61 }),
      empty: '',
      blank: ' ',
      'two lines': [identity(), identity()],
      'one joined value': `${identity()}, ${identity()}`,
    };
    for (const [what, value] of Object.entries(wrong)) {
      const { headers, status, text } = await refused({ 'x-nnumbers-identity': value });
      t.equal(status, 401, what);
      t.equal(JSON.parse(text).code, 'IDENTITY_ASSERTION_INVALID', what);
      t.equal(headers['www-authenticate'], 'NNumbers-Identity');
    }
    const nobody = await refused({ 'x-nnumbers-identity': undefined });
    t.equal(nobody.status, 401);
    t.same(JSON.parse(nobody.text), {
      code: 'USER_SESSION_REQUIRED',
      message: 'Sign in to continue.',
      login_path: '/.nnumbers/auth/login',
    });
    t.equal(engine.peers.length, 0, 'the engine heard of none of them');
    for (const changes of [
      { iat: seconds - 359, nbf: seconds - 359, exp: seconds - 59 },
      { nbf: seconds + 59 },
    ])
      (await connect({ 'x-nnumbers-identity': identity(changes) })).socket.close();
  },
);

t.test('1,000 upgrades with unknown keys cost the broker no more than the budget (C-67)', async (t) => {
  const broker = await startScriptedBroker();
  t.teardown(() => broker.close());
  broker.onKeys(answerJson(200, { keys: [signer.jwk] }));
  const { port } = await startEdge(t, { runtimeOptions: { env: environment([signer], broker.url) } });
  const connection = async (index: number) => {
    const raw = await RawConnection.open(port);
    const answer = await raw.request(
      [
        'Connection: Upgrade',
        'Upgrade: websocket',
        'Sec-WebSocket-Version: 13',
        'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
        `Origin: ${ORIGIN}`,
        `X-NNumbers-Identity: ${token({ ...signer, kid: `stranger-${index}` })}`,
      ],
      '/live',
    );
    raw.close();
    return answer.status;
  };
  const statuses = new Map<number, number>();
  for (let from = 0; from < 1_000; from += 50)
    for (const status of await Promise.all(
      Array.from({ length: 50 }, (_, index) => connection(from + index)),
    ))
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
  t.same([...statuses], [[401, 1_000]]);
  t.ok(broker.countOf('/v1/jwks') <= 3, `${broker.countOf('/v1/jwks')} fetches`);
});

for (const [what, answer, cause] of [
  ['keys that cannot be had', answerJson(500, {}), 'identity-unavailable'],
  ['a check that takes too long', () => {}, 'late'],
] as const)
  t.test(`${what}: 503, neither a person nor anonymous (E4)`, async (t) => {
    const broker = await startScriptedBroker();
    t.teardown(() => broker.close());
    broker.onKeys(answer);
    const { clock, edge, engine, refused } = await startEdge(t, {
      runtimeOptions: { env: environment([signer], broker.url) },
      allowAnonymous: true,
    });
    const events: unknown[] = [];
    const listen = (event: unknown): void => void events.push(event);
    subscribe('nn-runtime:nyxdb-edge', listen);
    t.teardown(() => unsubscribe('nn-runtime:nyxdb-edge', listen));
    const refusal = refused({ 'x-nnumbers-identity': token(makeKey('unknown')) });
    if (cause === 'late') {
      await until(() => edge.status().checking === 1);
      clock.advance(5_000);
    }
    const { headers, status, text } = await refusal;
    t.equal(status, 503);
    t.equal(headers['retry-after'], '5');
    t.equal(JSON.parse(text).code, 'APPLICATION_IDENTITY_NOT_READY');
    t.equal(engine.peers.length, 0);
    t.same(events, [{ name: 'upgrade-refused', cause, statusCode: 503 }]);
  });

t.test('a client that resets while its identity is checked ends nothing but itself (E15)', async (t) => {
  const broker = await startScriptedBroker();
  t.teardown(() => broker.close());
  let asked = (): void => {};
  const reached = new Promise<void>((resolve) => {
    asked = resolve;
  });
  let answer = (): void => {};
  broker.onKeys((...question) => {
    answer = () => answerJson(200, { keys: [] })(...question);
    asked();
  });
  const { connect, edge, port } = await startEdge(t, {
    runtimeOptions: { env: environment([signer], broker.url) },
  });
  const socket = connectTcp(port, '127.0.0.1');
  socket.on('error', () => {});
  await once(socket, 'connect');
  socket.write(
    [
      'GET /live HTTP/1.1',
      'Host: 127.0.0.1',
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Version: 13',
      'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
      `Origin: ${ORIGIN}`,
      `X-NNumbers-Identity: ${token(makeKey('unknown'))}`,
      '',
      '',
    ].join('\r\n'),
  );
  await reached;
  socket.resetAndDestroy();
  await once(socket, 'close');
  answer();
  await until(() => edge.status().checking === 0);
  (await connect()).socket.close();
});

t.test(
  'anonymous passes only where it is allowed in words, and must authenticate in time (E4)',
  async (t) => {
    const { clock, connect, edge, engine, refused } = await startEdge(t, { allowAnonymous: true });
    const anonymous = { 'x-nnumbers-identity': undefined };
    t.equal((await refused({ 'x-nnumbers-identity': 'x.y.z' })).status, 401, 'wrong is not anonymous');
    const silent = await connect(anonymous);
    const prompt = await connect(anonymous);
    await until(() => edge.status().live === 2);
    t.equal(edge.status().people, 0);
    prompt.socket.send(AUTH);
    const peers = [await engine.peer(), await engine.peer()];
    await until(() => peers.some(({ frames }) => frames.length === 1));
    clock.advance(5_000);
    t.same(await silent.closed, { code: 4008, reason: 'unauthenticated' });
    t.equal(edge.status().live, 1);
  },
);

t.test('the person is the verified one', async (t) => {
  const asked: Person[] = [];
  const { connect } = await startEdge(t, {
    authenticate(person) {
      asked.push(person);
      return null;
    },
  });
  await (await connect()).closed;
  t.match(asked, [{ kind: 'person', subject: 'ana-0001', organization: { id: 'org-51c2' } }]);
});

t.test('what is no WebSocket handshake is refused after everything else, told and counted', async (t) => {
  const { edge, engine, port } = await startEdge(t);
  const events: unknown[] = [];
  const note = (event: unknown) => events.push(event);
  subscribe('nn-runtime:nyxdb-edge', note);
  t.teardown(() => unsubscribe('nn-runtime:nyxdb-edge', note));
  const allowed = [`Origin: ${ORIGIN}`, `X-NNumbers-Identity: ${identity()}`];
  const version = 'Sec-WebSocket-Version: 13';
  const key = 'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==';
  const protocol = 'Sec-WebSocket-Protocol: nyxdb.edge-auth.v1';
  const wrong: readonly (readonly string[])[] = [
    ['Sec-WebSocket-Version: 12', key],
    [version, version, key],
    [version],
    [version, 'Sec-WebSocket-Key: short'],
    [version, key, key],
    [version, key, protocol, protocol],
    // Its body would be read as the client's first frames.
    [version, key, 'Content-Length: 5'],
    [version, key, 'Transfer-Encoding: chunked'],
  ];
  for (const lines of wrong)
    for (const [more, status, code] of [
      [[], 403, 'ORIGIN_NOT_ALLOWED'],
      [allowed, 400, 'HANDSHAKE_INVALID'],
    ] as const) {
      const raw = await RawConnection.open(port);
      const answer = await raw.request(
        ['Connection: Upgrade', 'Upgrade: websocket', ...lines, ...more],
        '/live',
      );
      t.equal(answer.status, status, lines.join());
      t.equal(JSON.parse(answer.body).code, code);
      t.equal(answer.headers['sec-websocket-version'], status === 400 ? '13' : undefined);
      raw.close();
    }
  t.match(edge.status(), { refused: 16, opened: 0, people: 0 });
  t.equal(engine.peers.length, 0);
  t.same(events.at(-1), { name: 'upgrade-refused', cause: 'handshake', statusCode: 400 });
  const raw = await RawConnection.open(port);
  const lines = ['Connection: Upgrade', 'Upgrade: websocket', version, key, 'Content-Length: 0', ...allowed];
  t.equal((await raw.request(lines, '/live')).status, 101, 'no body is no body');
  raw.close();
});
