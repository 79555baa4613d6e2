import { startPlatform } from '@nn-runtime/dev';
import { createLocalJWKSet, jwtVerify } from 'jose';
import t from 'tap';
import { application } from './fixtures/application.js';
import { browser } from './fixtures/browser.js';
import { ask, raw } from './fixtures/http.js';

const app = await application(t);
const platform = await startPlatform({ apps: [{ id: 'shop', url: app.url }] });
t.teardown(() => platform.close());
const { url: edge, env } = platform.apps.shop;
const port = Number(new URL(edge).port);
const ana = await platform.signIn('ana@example.org');
const keys = createLocalJWKSet(JSON.parse(env.NNUMBERS_IDENTITY_JWKS));

/** Header names of the last request, in lower case, and with `_` as CGI-style servers fold it. */
const names = () =>
  app
    .last()
    .rawHeaders.filter((_, index) => index % 2 === 0)
    .map((name) => name.toLowerCase().replaceAll('_', '-'));

t.test('the identity is a compact JWS with the claims of the contract', async (t) => {
  await ask(edge, { headers: { cookie: ana.cookie } });
  const token = String(app.last().headers['x-nnumbers-identity']);
  const { payload, protectedHeader } = await jwtVerify(token, keys);
  t.same(Object.keys(protectedHeader).sort(), ['alg', 'kid', 'typ']);
  t.equal(protectedHeader.alg, 'ES256');
  t.equal(protectedHeader.typ, 'nn-identity+jwt');
  t.same(Object.keys(payload).sort(), [
    'aud',
    'email',
    'email_verified',
    'exp',
    'iam',
    'iat',
    'iss',
    'jti',
    'name',
    'nbf',
    'org',
    'org_slug',
    'preferred_username',
    'sid',
    'sub',
  ]);
  t.equal(payload.iss, env.NNUMBERS_IDENTITY_ISSUER);
  t.equal(payload.aud, env.NNUMBERS_APP_ID);
  t.equal(payload.org, env.NNUMBERS_ORG_ID);
  t.equal(payload.iam, platform.iamUrl);
  t.equal(payload.email, 'ana@example.org');
  t.equal(payload.email_verified, true);
  t.equal((payload.exp ?? 0) - (payload.iat ?? 0), 300);
  t.equal(payload.nbf, payload.iat);
  t.equal(ana.cookie.includes(String(payload.sid)), false, 'sid is not the cookie');
});

t.test('every request gets an identity of its own', async (t) => {
  const jtis = new Set<unknown>();
  for (let request = 0; request < 3; request += 1) {
    await ask(edge, { headers: { cookie: ana.cookie } });
    const token = String(app.last().headers['x-nnumbers-identity']);
    jtis.add((await jwtVerify(token, keys)).payload.jti);
  }
  t.equal(jtis.size, 3);
});

t.test('without a person the header does not come, whatever the browser sends', async (t) => {
  const lines = [
    'X-NNumbers-Identity: forged',
    'x-nnumbers-identity: forged',
    'X-NNUMBERS-IDENTITY: forged',
    'X-NNumbers-Identity: one\r\nx-nnumbers-identity: two\r\nX-NNUMBERS-Identity: three',
    'X_NNumbers_Identity: forged',
    'X-NNumbers_Identity: forged',
    'x_nnumbers-identity: forged\r\nX-NNumbers-Identity: forged',
    'X-NNumbers-Identity:',
    `X-NNumbers-Identity: ${ana.identity}`,
    'Connection: close, X-NNumbers-Identity\r\nX-NNumbers-Identity: forged',
  ];
  for (const line of lines) {
    const answer = await raw(
      port,
      `GET /a HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n${line}\r\nConnection: close\r\n\r\n`,
    );
    t.match(answer, /^HTTP\/1\.1 200 /, line);
    t.equal(names().includes('x-nnumbers-identity'), false, line);
    t.equal(app.last().rawHeaders.join().includes('forged'), false);
  }
});

t.test('with a person the header is the platform’s alone', async (t) => {
  const lines = [
    'X-NNumbers-Identity: forged',
    'X_NNumbers_Identity: forged\r\nX-NNumbers-Identity: forged',
    'Connection: close, X-NNumbers-Identity',
    'Connection: X-NNumbers-Identity, close\r\nX-NNumbers-Identity: forged',
  ];
  for (const line of lines) {
    await raw(
      port,
      `GET /a HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nCookie: ${ana.cookie}\r\n${line}\r\nConnection: close\r\n\r\n`,
    );
    t.equal(names().filter((name) => name === 'x-nnumbers-identity').length, 1, line);
    const { payload } = await jwtVerify(String(app.last().headers['x-nnumbers-identity']), keys);
    t.equal(payload.email, 'ana@example.org');
  }
});

t.test('a trailer of that name does not reach the application', async (t) => {
  await raw(
    port,
    `POST /a HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nTransfer-Encoding: chunked\r\nTrailer: X-NNumbers-Identity\r\nConnection: close\r\n\r\n3\r\nabc\r\n0\r\nX-NNumbers-Identity: forged\r\nx_nnumbers_identity: forged\r\n\r\n`,
  );
  t.equal(app.last().body.toString(), 'abc');
  t.same(app.last().trailers, {});
  t.equal(names().includes('trailer'), false);
  t.equal(names().includes('x-nnumbers-identity'), false);
});

t.test('a header nominated by Connection is of one hop only', async (t) => {
  await raw(
    port,
    `GET /a HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: close, X-Once\r\nX-Once: 1\r\nX-Kept: 1\r\nKeep-Alive: timeout=1\r\nTE: trailers\r\n\r\n`,
  );
  t.equal(names().includes('x-once'), false);
  t.equal(names().includes('keep-alive'), false);
  t.equal(names().includes('te'), false);
  t.equal(names().includes('x-kept'), true);
});

t.test('a body whose length Connection nominates is still a body, never a request of its own', async (t) => {
  const inner =
    'GET /.nnumbers/smuggled HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-NNumbers-Identity: forged\r\n\r\n';
  for (const method of ['GET', 'HEAD', 'DELETE', 'OPTIONS', 'POST', 'PROPFIND']) {
    for (const nominated of ['close, Content-Length', 'close\r\nConnection: content-length']) {
      const before = app.seen.length;
      await raw(
        port,
        `${method} /outer HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: ${nominated}\r\nContent-Length: ${inner.length}\r\n\r\n${inner}`,
      );
      t.strictSame(
        app.seen.slice(before).map((seen) => `${seen.method} ${seen.url} ${seen.body.length}`),
        [`${method} /outer ${inner.length}`],
        `${method}, ${nominated}`,
      );
    }
  }
});

t.test('forwarding headers are the edge’s, not the browser’s', async (t) => {
  await ask(edge, {
    headers: {
      forwarded: 'for=6.6.6.6',
      'x-forwarded-for': '6.6.6.6',
      'X-Forwarded-Host': 'evil.example',
      x_forwarded_proto: 'https',
      'x-forwarded-port': '666',
      'x-forwarded-user': 'evil',
      'x-forwarded-prefix': '/evil',
      x_forwarded_ssl: 'evil',
      'x-real-ip': '6.6.6.6',
    },
  });
  const { headers, rawHeaders } = app.last();
  t.equal(headers['x-forwarded-for'], '127.0.0.1');
  t.equal(headers['x-forwarded-host'], `127.0.0.1:${port}`);
  t.equal(headers['x-forwarded-proto'], 'http');
  t.equal(headers['x-forwarded-port'], String(port));
  t.equal(headers.forwarded, `for=127.0.0.1;host="127.0.0.1:${port}";proto=http`);
  t.equal(headers.host, `127.0.0.1:${port}`);
  t.equal(/6\.6\.6\.6|666|evil|https/.test(rawHeaders.join()), false);
  t.equal(new Set(names()).size, names().length, 'each of them once');
});

t.test('no number of headers keeps the identity from the application', async (t) => {
  // Node's servers read 2,000 headers. What is past that they drop without a word (20), or they refuse the request (22 and newer).
  const before = app.seen.length;
  const junk = Array.from({ length: 2_200 }, (_, index) => `${index.toString(36)}:`).join('\r\n');
  const answer = await raw(
    port,
    `GET /a HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nCookie: ${ana.cookie}\r\nConnection: close\r\n${junk}\r\n\r\n`,
  );
  if (answer.startsWith('HTTP/1.1 431 ')) {
    t.equal(app.seen.length, before, 'the application never sees it');
    return;
  }
  t.match(answer, /^HTTP\/1\.1 200 /);
  t.match(app.last().headers['x-nnumbers-identity'], /^eyJ/);
  t.equal(app.last().headers.host, `127.0.0.1:${port}`);
});

t.test('a Connection header cannot take Host or the forwarding headers away', async (t) => {
  await raw(
    port,
    `GET /a HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: close, Host, X-Forwarded-For, Forwarded\r\n\r\n`,
  );
  t.equal(app.last().headers.host, `127.0.0.1:${port}`);
  t.equal(app.last().headers['x-forwarded-for'], '127.0.0.1');
  t.match(app.last().headers.forwarded, /^for=127/);
});

t.test('the application’s own cookies pass as they are, the platform’s do not', async (t) => {
  const cases: [string, string | undefined][] = [
    ['theme=dark', 'theme=dark'],
    [`${ana.cookie}`, undefined],
    [`a=1; ${ana.cookie}; b="x y"; c==; d`, 'a=1; b="x y"; c==; d'],
    ['__nnumbers_session_1=x; __NNumbers_session_2=y;__nnumbers_iam_3_session=z; e=5', 'e=5'],
    ['x__nnumbers_a=1; __nnumber=2', 'x__nnumbers_a=1; __nnumber=2'],
  ];
  for (const [cookie, expected] of cases) {
    await ask(edge, { headers: { cookie } });
    t.equal(app.last().headers.cookie, expected, cookie.slice(0, 40));
  }
});

t.test('the application cannot set a cookie of the platform', async (t) => {
  const setter = await application(t, (_request, response) => {
    response.setHeader('set-cookie', [
      'a=1; Path=/',
      '__nnumbers_session_8080=x',
      '__NNUMBERS_session_8080=x',
      // Without a name, browsers send the value alone: it comes back as the platform's cookie.
      '=__nnumbers_session_8080=x',
      ' = __nnumbers_session_8080=x',
      'b=2',
    ]);
    response.end();
  });
  const other = await startPlatform({ apps: [{ id: 'setter', url: setter.url }] });
  t.teardown(() => other.close());
  t.same((await ask(other.apps.setter.url)).setCookies, ['a=1; Path=/', 'b=2']);
});

t.test('what the application never receives', async (t) => {
  const seenBefore = app.seen.length;
  const person = browser();
  const given = new Set<string>();
  let url = `${edge}/.nnumbers/auth/login?login_hint=ana@example.org&return_to=/landing`;
  for (let step = 0; step < 10 && url !== ''; step += 1) {
    const answer = await person.visit(url);
    for (const line of answer.setCookies) {
      const value = /^[^=]+=([^;]*)/.exec(line)?.[1] ?? '';
      if (value.length >= 8) given.add(value);
    }
    const location = answer.headers.location;
    if (location === undefined) break;
    url = new URL(location, url).href;
    // The authorization code, state, nonce and challenge are the platform's business as well.
    for (const name of ['code', 'state', 'nonce', 'code_challenge'])
      for (const value of new URL(url).searchParams.getAll(name)) given.add(value);
  }
  t.ok(given.size >= 6, 'the canaries: cookies of the edge and of the IAM, the code, state and nonce');
  await person.visit(`${edge}/again`, { method: 'POST', body: 'x' });
  const identity = String(app.last().headers['x-nnumbers-identity']);
  const query = await ask(`${platform.brokerUrl}/v1/querymesh/query`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-nnumbers-identity': identity },
    body: '{"sql":"SELECT name, regionkey FROM tpch.tiny.nation"}',
  });
  const jwks = await ask(`${platform.brokerUrl}/v1/jwks`);
  t.equal(query.status, 200);

  const claims = Buffer.from(identity.split('.')[1] ?? '', 'base64url').toString();
  const received = JSON.stringify([
    app.seen.slice(seenBefore).map((seen) => [seen.url, seen.rawHeaders, seen.body.toString()]),
    claims,
    env,
    query.headers,
    query.text,
    jwks.headers,
    jwks.text,
  ]);
  for (const canary of given) t.equal(received.includes(canary), false);
  t.equal(/access_token|refresh_token|client_secret|id_token/i.test(received), false);
  t.equal(/__nnumbers_/i.test(received), false);
  t.same(
    app.seen
      .slice(seenBefore)
      .flatMap((seen) => seen.rawHeaders.filter((value) => /^eyJ/.test(value)))
      .map((token) => JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString()).typ),
    ['nn-identity+jwt', 'nn-identity+jwt'],
    'the only token that arrives is the identity',
  );
  t.same(Object.keys(env).sort(), [
    'NNUMBERS_APP_ID',
    'NNUMBERS_BROKER_URL',
    'NNUMBERS_IDENTITY_ISSUER',
    'NNUMBERS_IDENTITY_JWKS',
    'NNUMBERS_ORG_ID',
  ]);
  for (const key of JSON.parse(jwks.text).keys)
    t.same(Object.keys(key).sort(), ['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y'], 'public members only');
  t.same(jwks.text, env.NNUMBERS_IDENTITY_JWKS);
});
