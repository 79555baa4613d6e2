import { getSession, onSessionChange, type Session, signOut } from '@nn-runtime/browser';
import t, { type Test } from 'tap';
import { html, json, ORGANIZATION, pretendPage, redirect, startStandIn } from './standin.js';

const signedIn = async (t: Test) => {
  const server = await startStandIn(t);
  pretendPage(t, server.url);
  server.state.user = { name: 'Ana' };
  return server;
};

/** Another tab: a channel of the same name in the same browser. */
const openTab = (t: Test) => {
  const channel = new BroadcastChannel('nn-runtime.session');
  const heard: unknown[] = [];
  const waiting: (() => void)[] = [];
  channel.onmessage = (event: MessageEvent) => {
    heard.push(event.data);
    waiting.shift()?.();
  };
  t.teardown(() => channel.close());
  const hears = () => new Promise<void>((resolve) => waiting.push(resolve));
  /** Everything heard until now: waits for a last word of its own. */
  const drain = async () => {
    const last = new BroadcastChannel('nn-runtime.session');
    t.teardown(() => last.close());
    const end = hears();
    last.postMessage('end');
    await end;
    return heard;
  };
  return { hears, drain, channel };
};

t.test('signing out posts to the platform, takes its 303 without following, and makes sure', async (t) => {
  const server = await signedIn(t);
  await signOut();
  t.same(
    server.requests.map((request) => `${request.method} ${request.url}`),
    ['POST /.nnumbers/auth/logout', 'GET /.nnumbers/auth/session'],
  );
  t.equal((await getSession()).user, null);
});

t.test('other tabs and the listeners of this one hear of it once, without any content', async (t) => {
  await signedIn(t);
  await getSession();
  const tab = openTab(t);
  const heard: Session[] = [];
  const stop = onSessionChange((session) => heard.push(session));
  t.teardown(stop);
  const hint = tab.hears();
  await signOut();
  await hint;
  t.same(heard, [{ user: null, organization: ORGANIZATION }]);
  await getSession();
  t.equal(heard.length, 1, 'no news, no call');
  stop();
  t.same(await tab.drain(), ['changed', 'end']);
});

t.test('a page with no listener tells the other tabs as well', async (t) => {
  await signedIn(t);
  const tab = openTab(t);
  const hint = tab.hears();
  await signOut();
  await hint;
  t.same(await tab.drain(), ['changed', 'end']);
});

t.test('a hint of another tab is checked, never believed', async (t) => {
  const server = await signedIn(t);
  await getSession();
  const tab = openTab(t);
  let resolveNext = (_session: Session) => {};
  const next = new Promise<Session>((resolve) => {
    resolveNext = resolve;
  });
  const heard: Session[] = [];
  const stop = onSessionChange((session) => {
    heard.push(session);
    resolveNext(session);
  });
  t.teardown(stop);
  const asked = new Promise<void>((resolve) => {
    server.on('GET /.nnumbers/auth/session', (request, response) => {
      json(203, { user: server.state.user, organization: ORGANIZATION })(request, response);
      response.on('close', resolve);
    });
  });
  tab.channel.postMessage({ user: { name: 'Mallory' } });
  await asked;
  server.state.user = { name: 'Bia' };
  tab.channel.postMessage(null);
  await next;
  t.same(
    heard,
    [{ user: { name: 'Bia' }, organization: ORGANIZATION }],
    'and the hint that was no news called nobody',
  );
  stop();
  t.same(await tab.drain(), ['end'], 'no tab answers a hint with a hint');
});

t.test('each subscription ends alone, and only once', async (t) => {
  const server = await signedIn(t);
  await getSession();
  let calls = 0;
  const listener = () => {
    calls++;
  };
  const stopFirst = onSessionChange(listener);
  const stopSecond = onSessionChange(listener);
  stopFirst();
  stopFirst();
  server.state.user = { name: 'Caio' };
  await getSession();
  t.equal(calls, 1);
  const stopThird = onSessionChange(() => stopFourth());
  const stopFourth = onSessionChange(() => t.fail('ended by a listener of the same change'));
  server.state.user = { name: 'Dora' };
  await getSession();
  t.equal(calls, 2);
  stopThird();
  stopSecond();
  server.state.user = { name: 'Davi' };
  await getSession();
  t.equal(calls, 2);
});

t.test('a slow answer to an older question is not news', async (t) => {
  const server = await signedIn(t);
  await getSession();
  const heard: unknown[] = [];
  t.teardown(onSessionChange((session) => heard.push(session.user?.name)));
  let release = () => {};
  const arrived = new Promise<void>((resolve) => {
    server.on('GET /.nnumbers/auth/session', (request, response) => {
      release = () => json(203, { user: { name: 'Old' }, organization: ORGANIZATION })(request, response);
      resolve();
    });
  });
  const old = getSession();
  await arrived;
  server.on('GET /.nnumbers/auth/session', json(203, { user: { name: 'New' }, organization: ORGANIZATION }));
  await getSession();
  release();
  t.equal((await old).user?.name, 'Old', 'whoever asked gets the answer');
  t.same(heard, ['New']);
});

t.test('a sign-out that did not happen is an error', async (t) => {
  const server = await signedIn(t);
  const path = 'POST /.nnumbers/auth/logout';
  server.on(path, json(403, {}));
  await t.rejects(signOut(), { name: 'ForbiddenError', code: 'FORBIDDEN' });
  for (const answer of [html(404, ''), html(405, ''), json(500, {})]) {
    server.on(path, answer);
    await t.rejects(signOut(), { name: 'ProtocolError', code: 'PROTOCOL_ERROR' });
  }
  server.state.user = null;
  await t.rejects(signOut(), { code: 'PROTOCOL_ERROR' }, 'also when nobody was signed in');
  server.state.user = { name: 'Ana' };
  server.on(path, redirect(307, '/elsewhere'));
  await t.rejects(signOut(), { code: 'PROTOCOL_ERROR' }, 'a redirect that ended nothing');
  server.on(path, (_request, response) => response.destroy());
  await t.rejects(signOut(), { code: 'NETWORK_DOWN' });
  const reason = new Error('gone');
  await t.rejects(signOut({ signal: AbortSignal.abort(reason) }), reason);
});
