import {
  ForbiddenError,
  getContext,
  getSession,
  NetworkError,
  ProtocolError,
  SessionError,
  SignedOutError,
} from '@nn-runtime/browser';
import t from 'tap';
import { html, json, pretendPage, redirect, startStandIn } from './standin.js';

const organization = { id: 'org_1', slug: 'acme' };

t.test('203 is success: the person, and whatever else the platform sends', async (t) => {
  const server = await startStandIn(t);
  pretendPage(t, `${server.url}/deep/page?x#y`);
  server.state.user = { name: 'Ana', email: 'ana@acme.example', email_verified: true, team: ['a'] };
  t.same(await getSession(), {
    user: { name: 'Ana', email: 'ana@acme.example', email_verified: true, team: ['a'] },
    organization,
  });
  t.equal(server.requests[0]?.method, 'GET');
  t.equal(server.requests[0]?.headers['cache-control'], 'no-cache', "fetch's no-store");
});

t.test('nobody signed in is an answer, not an error', async (t) => {
  const server = await startStandIn(t);
  pretendPage(t, server.url);
  t.same(await getSession(), { user: null, organization });
});

t.test('an account without an email may come as null', async (t) => {
  const server = await startStandIn(t);
  pretendPage(t, server.url);
  server.state.user = { name: null, email: null, email_verified: null, preferred_username: null, x: null };
  t.same(await getSession(), { user: { x: null }, organization });
});

t.test('the context names the application, the organization and the paths', async (t) => {
  const server = await startStandIn(t);
  pretendPage(t, server.url);
  t.same(await getContext(), {
    app: { id: 'app_1' },
    organization,
    auth: { login_path: '/.nnumbers/auth/login', logout_path: '/.nnumbers/auth/logout' },
  });
});

t.test('JSON of another shape is a protocol error', async (t) => {
  const server = await startStandIn(t);
  pretendPage(t, server.url);
  for (const body of [
    null,
    [],
    'x',
    {},
    { user: null },
    { organization },
    { user: null, organization: null },
    { user: null, organization: { id: 'org_1' } },
    { user: null, organization: { id: 1, slug: 'acme' } },
    { user: [], organization },
    { user: 'ana', organization },
    { user: { name: 1 }, organization },
    { user: { email: {} }, organization },
    { user: { email_verified: 'true' }, organization },
    { user: { preferred_username: [] }, organization },
  ]) {
    server.on('GET /.nnumbers/auth/session', json(203, body));
    await t.rejects(getSession(), { name: 'ProtocolError', code: 'PROTOCOL_ERROR' }, JSON.stringify(body));
  }
  const app = { id: 'app_1' };
  const auth = { login_path: '/l', logout_path: '/o' };
  for (const body of [
    null,
    { app, organization },
    { app, auth },
    { organization, auth },
    { app: {}, organization, auth },
    { app, organization, auth: { login_path: '/l' } },
  ]) {
    server.on('GET /.nnumbers/v1/context', json(203, body));
    await t.rejects(getContext(), { code: 'PROTOCOL_ERROR' }, JSON.stringify(body));
  }
});

t.test('any other answer is a typed error that holds the answer unread and prints none of it', async (t) => {
  const server = await startStandIn(t);
  pretendPage(t, server.url);
  const path = 'GET /.nnumbers/auth/session';
  for (const [answer, Class, code, status] of [
    [html(200, '<h1>secret</h1>'), ProtocolError, 'PROTOCOL_ERROR', 200],
    [redirect(302, '/secret'), ProtocolError, 'PROTOCOL_ERROR', 302],
    [html(404, 'secret'), ProtocolError, 'PROTOCOL_ERROR', 404],
    [json(500, { user: null, organization }), ProtocolError, 'PROTOCOL_ERROR', 500],
    [json(401, { secret: 1 }), SignedOutError, 'SIGNED_OUT', 401],
    [json(403, { secret: 1 }), ForbiddenError, 'FORBIDDEN', 403],
  ] as const) {
    server.on(path, answer);
    const error: unknown = await getSession().then(
      () => undefined,
      (error: unknown) => error,
    );
    if (!(error instanceof SessionError)) {
      t.fail(`${code}: not a typed error`);
      continue;
    }
    t.ok(error instanceof Class, Class.name);
    t.equal(error.code, code);
    t.equal(error.response?.status, status);
    t.type(await error.response?.text(), 'string', 'its body can still be read');
    t.notMatch(JSON.stringify(error) + error.stack, /secret/);
    t.notOk(Object.keys(error).includes('response'));
  }
});

t.test('a network that is down is its own error, before and in the middle of the answer', async (t) => {
  const server = await startStandIn(t);
  pretendPage(t, server.url);
  server.on('GET /.nnumbers/auth/session', (_request, response) => {
    response.writeHead(203, { 'content-type': 'application/json', 'content-length': '1000' });
    response.write('{"user":', () => response.destroy());
  });
  await t.rejects(getSession(), { name: 'NetworkError', code: 'NETWORK_DOWN' }, 'cut off');
  await server.close();
  const error: unknown = await getSession().catch((error: unknown) => error);
  t.ok(error instanceof NetworkError);
  t.ok(error instanceof Error && error.cause instanceof TypeError, 'with what fetch threw');
});

t.test('whoever gives up gets their own reason back', async (t) => {
  const server = await startStandIn(t);
  pretendPage(t, server.url);
  const reason = new Error('gone');
  await t.rejects(getSession({ signal: AbortSignal.abort(reason) }), reason);
  const controller = new AbortController();
  server.on('GET /.nnumbers/v1/context', (_request, response) => {
    response.writeHead(203, { 'content-type': 'application/json' });
    response.write('{', () => controller.abort(reason));
  });
  await t.rejects(getContext({ signal: controller.signal }), reason);
});
