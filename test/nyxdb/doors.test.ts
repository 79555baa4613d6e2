import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import * as browserDoor from '@nn-runtime/nyxdb';
import * as nodeDoor from '@nn-runtime/nyxdb/node';
import { build } from 'esbuild';
import t from 'tap';
import { WebSocketServer } from 'ws';
import { startEngine } from './engine.js';
import { ManualClock, until } from './time.js';

const bundle = (code: string) =>
  build({
    stdin: { contents: code, resolveDir: import.meta.dirname },
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    // A node: import would be an error of the build, not an external one.
    write: false,
    metafile: true,
    logLevel: 'silent',
  });

t.test('the browser door is at most 8 KiB gzipped, with no dependency and nothing of Node', async (t) => {
  const { outputFiles, metafile } = await bundle("export * from '@nn-runtime/nyxdb'");
  const [file] = outputFiles;
  const size = gzipSync(file?.contents ?? '', { level: 9 }).length;
  t.ok(size <= 8_192, `${size} bytes`);
  t.comment(`${size} bytes gzipped`);
  const inputs = Object.keys(metafile.inputs).filter(
    (name) => !/^(<stdin>|.*packages\/nyxdb\/dist\/[a-z-]+\.js)$/.test(name),
  );
  t.same(inputs, []);
  t.same(
    Object.values(metafile.outputs).flatMap((output) => output.imports),
    [],
  );
  t.notMatch(file?.text, /node:|\bprocess\b|\bBuffer\b/);
});

t.test('the Node door has the same names, and ws', async (t) => {
  t.same(Object.keys(nodeDoor).sort(), Object.keys(browserDoor).sort());
  await t.rejects(bundle("export * from '@nn-runtime/nyxdb/node'"), /diagnostics_channel/);
});

t.test('the Node door offers no compression, also to a server that would (C-99)', async (t) => {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0, perMessageDeflate: true });
  await once(server, 'listening');
  t.teardown(() => {
    for (const client of server.clients) client.terminate();
    server.close();
  });
  const client = nodeDoor.createEndpointClient({
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    authenticate: () => ({ provider: 'p', token: 't' }),
  });
  const call = client.execute('a');
  const [socket, request] = await once(server, 'connection');
  t.equal(request.headers['sec-websocket-extensions'], undefined);
  t.equal(socket.extensions, '');
  await client.close();
  await t.rejects(call, { code: 'CLOSED' });
});

t.test('the Node door refuses a message over the cap before it is received (R7, C-07)', async (t) => {
  // Raw, so that the declared 4 GiB is never sent; and it answers no close frame.
  const server = createServer();
  const ended: Promise<unknown>[] = [];
  server.on('upgrade', async (request, socket) => {
    socket.on('error', () => {});
    ended.push(once(socket, 'close'));
    socket.on('end', () => socket.destroy());
    socket.resume();
    const { createHash } = await import('node:crypto');
    const accept = createHash('sha1')
      .update(`${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
      .digest('base64');
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-accept: ${accept}\r\n\r\n`,
    );
    socket.write(Buffer.from('827f0000000100000000', 'hex'));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const clock = new ManualClock();
  const client = nodeDoor.createEndpointClient({
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    authenticate: () => ({ provider: 'p', token: 't' }),
    clock,
  });
  await t.rejects(client.execute('a'), { code: 'PROTOCOL_ERROR', reason: 'over-cap' });
  let isClosed = false;
  const closed = client.close().then(() => {
    isClosed = true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  t.notOk(isClosed, 'the connection is still there');
  clock.advance(2_000);
  await Promise.all([closed, ...ended]);
});

for (const autoPong of [true, false])
  t.test(
    `the Node door pings idle sockets; this one ${autoPong ? 'answers' : 'does not'} (N1)`,
    async (t) => {
      const engine = await startEngine(t, { autoPong });
      const clock = new ManualClock();
      const client = nodeDoor.createEndpointClient({
        url: engine.url,
        authenticate: () => ({ provider: 'p', token: 't' }),
        clock,
      });
      t.teardown(() => void client.close());
      const call = client.execute('a');
      const peer = await engine.ready();
      peer.answer(await peer.next(), 0x00, 'a\n');
      await call;
      const pinged = once(peer.socket, 'ping');
      clock.advance(25_000);
      await pinged;
      if (autoPong) {
        // Two round trips: the client has its answer then.
        for (let trip = 0; trip < 2; trip++) {
          peer.socket.ping();
          await once(peer.socket, 'pong');
        }
        const again = once(peer.socket, 'ping');
        clock.advance(25_000);
        await again;
        t.equal(client.info().sockets.ready, 1);
      } else {
        clock.advance(25_000);
        await until(() => client.info().sockets.ready === 0);
        t.equal(await peer.closed, 1006, 'ended without a handshake that nobody would answer');
      }
    },
  );
