// Both example applications as processes of their own, behind the local platform: what a page at their address may do.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { type PlatformApp, startPlatform } from '@nn-runtime/dev';
import { createEndpointClient, developmentProfile } from '@nn-runtime/nyxdb/node';
import t, { type Test } from 'tap';
import { WebSocket } from 'ws';
import { freePort } from '../free-port.js';

async function start(t: Test, app: string) {
  const port = await freePort();
  const platform = await startPlatform({ apps: [{ id: app, url: `http://127.0.0.1:${port}` }] });
  t.teardown(() => platform.close());
  const { env, localEnv, url } = platform.apps[app] as PlatformApp;
  const child: ChildProcess = spawn(
    process.execPath,
    [fileURLToPath(new URL(`../../examples/${app}/dist/server.js`, import.meta.url))],
    { env: { ...env, ...localEnv, PORT: String(port) }, stdio: ['ignore', 'pipe', 'inherit'] },
  );
  t.teardown(() => child.kill('SIGKILL'));
  const ended = once(child, 'exit').then(([code]) => Promise.reject(new Error(`it ended with ${code}`)));
  ended.catch(() => {});
  if (child.stdout !== null) await Promise.race([once(child.stdout, 'data'), ended]);
  return { platform, url, child };
}

for (const app of ['fastify-app', 'express-app'])
  t.test(`${app}: /live`, async (t) => {
    const { platform, url, child } = await start(t, app);
    const { cookie } = await platform.signIn('ana@example.org');
    const live = url.replace('http', 'ws').concat('/live');

    /** A page's client: its Origin and its cookie, and no token. */
    const page = (headers: Record<string, string>) =>
      createEndpointClient({
        url: live,
        authenticate: 'edge',
        profile: developmentProfile,
        webSocket: (address, protocols) => new WebSocket(address, protocols, { headers }),
      });

    await t.test('a signed-in person sees their own rows, live, until they sign out', async (t) => {
      const client = page({ origin: url, cookie });
      t.teardown(() => client.close());
      const { rows } = await client.execute('my_fills', ['BTC-USD']);
      t.same(
        rows.map(([id]) => id),
        ['3', '6', '9'],
      );
      const states = client.subscribe('my_fills_live', ['BTC-USD']);
      t.same(
        (await states.next()).value?.rows.map(([id]) => id),
        ['9', '6', '3'],
      );
      await platform.nyxdb.write('DELETE FROM fills WHERE fill_id = 6');
      t.same(
        (await states.next()).value?.rows.map(([id]) => id),
        ['9', '3'],
      );
      platform.faults.endSession('ana@example.org');
      await t.rejects(states.next(), { code: 'AUTH_REVOKED' });
    });

    await t.test('nobody, and other pages, are refused before the upgrade', async (t) => {
      const status = async (headers: Record<string, string>) => {
        const socket = new WebSocket(live, { headers });
        socket.on('error', () => {});
        const [, response] = await once(socket, 'unexpected-response');
        response.resume();
        return response.statusCode;
      };
      const bruno = await platform.signIn('bruno@example.org');
      t.equal(await status({ origin: url }), 401);
      t.equal(await status({ origin: 'https://evil.example', cookie: bruno.cookie }), 403);
      t.equal(await status({ cookie: bruno.cookie }), 403);
      const forged = { origin: url, 'x-nnumbers-identity': bruno.identity };
      t.equal(await status(forged), 401, 'a header of the browser itself is nothing');
    });

    await t.test('it ends by itself when asked to, with a subscription open', async (t) => {
      const { cookie } = await platform.signIn('bruno@example.org');
      const client = page({ origin: url, cookie });
      t.teardown(() => client.close());
      const states = client.subscribe('my_fills_live', ['BTC-USD']);
      await states.next();
      const exit = once(child, 'exit');
      const askedMs = performance.now();
      child.kill('SIGTERM');
      t.same(await exit, [0, null]);
      t.ok(performance.now() - askedMs < 3_500, 'by draining, before its deadline');
    });
  });
