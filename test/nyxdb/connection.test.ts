import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { createEndpointClient, documentedProfile, type EngineProfile } from '@nn-runtime/nyxdb';
import t, { type Test } from 'tap';
import { implementations } from './clients.js';
import { hex, payloadOf, REVOCATION, response, startEngine } from './engine.js';
import { ManualClock, until } from './time.js';

const OTHER = Buffer.alloc(16, 0x77);

for (const { name, connect } of implementations)
  t.test(`connecting over ${name}`, async (t: Test) => {
    t.test('nothing is opened before the first call, and OP_AUTH is the first frame (R16, R3)', async (t) => {
      const engine = await startEngine(t);
      let asked = 0;
      const client = connect(t, engine, {
        authenticate: () => {
          asked++;
          return { provider: 'app_sessions', token: 't0k' };
        },
      });
      t.same([engine.peers.length, asked], [0, 0]);
      const call = client.execute('my_fills');
      const peer = await engine.peer();
      const auth = await peer.next();
      t.same(auth.subarray(0, 1), hex('09'));
      t.same(auth.subarray(17), hex('00000010 6170705f73657373696f6e73 00 74306b'));
      t.notSame(auth.subarray(1, 17), Buffer.alloc(16), 'a request id');
      t.equal(peer.path, '/', 'no token in the URL (R26)');
      t.notMatch(JSON.stringify(peer.headers), /t0k/);
      peer.answer(auth, 0x00, 'authenticated\n');
      const request = await peer.next();
      t.notSame(request.subarray(1, 17), auth.subarray(1, 17), 'another id for another operation (R13)');
      peer.answer(request, 0x00, 'a\n');
      await call;
    });

    t.test('nothing is sent before the engine has authenticated the socket (R18)', async (t) => {
      const engine = await startEngine(t);
      const call = connect(t, engine).execute('my_fills');
      const peer = await engine.peer();
      const auth = await peer.next();
      // A ping and its pong: whatever the client had sent behind OP_AUTH would have come first.
      peer.socket.ping();
      await once(peer.socket, 'pong');
      t.same(peer.ops, [0x09]);
      peer.answer(auth, 0x00, 'authenticated\n');
      peer.answer(await peer.next(), 0x00, 'a\n');
      await call;
    });

    t.test('only the exact success body authenticates (R18, C-78)', async (t) => {
      for (const [status, body] of [
        [0x00, 'authenticated'],
        [0x00, 'Authenticated\n'],
        [0x00, 'authenticated\n\n'],
        [0x00, ''],
        [0x01, 'authenticated\n'],
        [0x01, 'who are you'],
      ] as const) {
        const engine = await startEngine(t);
        const call = connect(t, engine).execute('my_fills');
        const peer = await engine.peer();
        peer.answer(await peer.next(), status, body);
        await t.rejects(call, { code: 'PROTOCOL_ERROR', reason: 'contradictory', outcome: 'not-sent' }, body);
        t.equal(await peer.closed, 4002);
        t.same(peer.ops, [0x09]);
      }
    });

    t.test(
      'a failed authentication is one error without a cause, and its socket is not used again (R19, R20, C-79)',
      async (t) => {
        const engine = await startEngine(t);
        const client = connect(t, engine);
        for (const body of ['auth failed', 'auth failed\n']) {
          const call = client.execute('my_fills');
          const peer = await engine.peer();
          peer.answer(await peer.next(), 0x01, body);
          await t.rejects(call, { code: 'AUTH_FAILED', outcome: 'not-sent', retryable: false });
          await peer.closed;
          t.same(peer.ops, [0x09]);
        }
        const call = client.execute('my_fills');
        const peer = await engine.ready();
        peer.answer(await peer.next(), 0x00, 'a\n');
        await call;
        t.equal(engine.peers.length, 3);
      },
    );

    t.test('a later refusal of the authentication ends the socket too (R20)', async (t) => {
      const engine = await startEngine(t);
      const call = connect(t, engine).execute('my_fills');
      const peer = await engine.ready();
      peer.answer(await peer.next(), 0x01, 'auth failed');
      await t.rejects(call, { code: 'AUTH_FAILED' });
      await peer.closed;
    });

    t.test(
      'authenticate is asked for every socket, and a new token retires the sockets of the old one (R21, R22)',
      async (t) => {
        const engine = await startEngine(t);
        let token = 'first';
        const client = connect(t, engine, { authenticate: async () => ({ provider: 'p', token }) });
        const one = client.execute('one');
        const first = await engine.peer();
        t.equal(payloadOf(await first.authenticate()), 'p\0first');
        const held = await first.next();
        token = 'second';
        const two = client.execute('two');
        const second = await engine.peer();
        t.equal(payloadOf(await second.authenticate()), 'p\0second');
        second.answer(await second.next(), 0x00, 'a\n');
        await two;
        first.answer(held, 0x00, 'a\n');
        await one;
        t.equal(await first.closed, 4000, 'after its call, it is not used again');
        t.equal(client.info().sockets.ready, 1);
        const three = client.execute('three');
        second.answer(await second.next(), 0x00, 'a\n');
        await three;
      },
    );

    t.test('an idle socket of the old token is closed as soon as a new one is open (R22)', async (t) => {
      const engine = await startEngine(t);
      let token = 'first';
      const client = connect(t, engine, { authenticate: () => ({ provider: 'p', token }) });
      const calls = [client.execute('one'), client.execute('two')];
      const peers = [await engine.ready(), await engine.ready()];
      const requests = await Promise.all(peers.map((peer) => peer.next()));
      peers[0]?.answer(requests[0] as Buffer, 0x00, 'a\n');
      await Promise.race(calls);
      token = 'second';
      const more = [client.execute('three'), client.execute('four')];
      const third = await peers[0]?.next();
      const other = await engine.ready();
      other.answer(await other.next(), 0x00, 'a\n');
      peers[0]?.answer(third as Buffer, 0x00, 'a\n');
      peers[1]?.answer(requests[1] as Buffer, 0x00, 'a\n');
      await Promise.all([...calls, ...more]);
      t.same(await Promise.all(peers.map((peer) => peer.closed)), [4000, 4000]);
    });

    t.test(
      'setAuthenticate closes every socket of the former principal and ends what was pending (R22, N5)',
      async (t) => {
        const engine = await startEngine(t);
        const client = connect(t, engine, { limits: { poolSize: 1 } });
        const sent = client.execute('sent');
        const waiting = client.execute('waiting');
        const peer = await engine.ready();
        const request = await peer.next();
        client.setAuthenticate(() => ({ provider: null, token: 'n3w' }));
        await t.rejects(sent, { code: 'AUTH_CHANGED', outcome: 'unknown' });
        await t.rejects(waiting, { code: 'AUTH_CHANGED', outcome: 'not-sent' });
        peer.answer(request, 0x00, 'late\n');
        await peer.closed;
        const call = client.execute('my_fills');
        const next = await engine.peer();
        t.equal(payloadOf(await next.authenticate()), '\0n3w', 'null is the empty name, on purpose (R24)');
        next.answer(await next.next(), 0x00, 'a\n');
        t.same((await call).columns, ['a']);
        t.throws(() => client.setAuthenticate('t0k' as never), TypeError);
      },
    );

    t.test('credentials that are none open no socket (N5, R23, R24)', async (t) => {
      const engine = await startEngine(t);
      const client = connect(t, engine);
      for (const given of [
        undefined,
        null,
        {},
        { token: 't' },
        { provider: 'p' },
        { provider: 1, token: 't' },
        { provider: null, token: 1 },
      ]) {
        client.setAuthenticate(() => given as never);
        await t.rejects(client.execute('a'), {
          code: 'CREDENTIALS_UNAVAILABLE',
          outcome: 'not-sent',
          retryable: true,
        });
      }
      for (const given of [
        { provider: '', token: 't' },
        { provider: 'p', token: '' },
        { provider: 'p\0q', token: 't' },
        { provider: 'p', token: 't\0' },
        { provider: 'p', token: '\ud800' },
      ]) {
        client.setAuthenticate(() => given);
        await t.rejects(client.execute('a'), TypeError);
      }
      const thrown = new Error('no t0k today');
      client.setAuthenticate(() => {
        throw thrown;
      });
      const error = await client.execute('a').then(
        () => t.fail('must reject'),
        (error) => error,
      );
      t.match(error, { code: 'CREDENTIALS_UNAVAILABLE' });
      t.equal(error.thrown, thrown, 'for whoever looks for it');
      client.setAuthenticate(async () => Promise.reject(thrown));
      await t.rejects(client.execute('a'), { code: 'CREDENTIALS_UNAVAILABLE' });
      t.equal(engine.peers.length, 0);
    });

    t.test(
      'a frame that answers nothing ends the socket (R14, R15, R66, C-17, C-19, C-20, C-36)',
      async (t) => {
        const zero = Buffer.alloc(16);
        for (const [what, frame] of [
          ['C-17 another id', response(OTHER, 0x00, 'a\n')],
          ['C-20 the zero id with success', response(zero, 0x00, '')],
          ['C-36 the zero id with another text', response(zero, 0x01, 'auth revoked\n')],
          ['C-36 the zero id with a shorter text', response(zero, 0x01, 'auth revoke')],
          ['C-36 the revocation text with another id', response(OTHER, 0x01, 'auth revoked')],
          ['C-36 the zero id with another status', response(zero, 0x02, 'auth revoked')],
        ] as const) {
          const engine = await startEngine(t);
          const call = connect(t, engine).execute('my_fills');
          const peer = await engine.ready();
          const request = await peer.next();
          peer.send(frame);
          peer.answer(request, 0x00, 'a\n');
          await t.rejects(call, { code: 'PROTOCOL_ERROR', reason: 'unmatched', outcome: 'unknown' }, what);
          t.equal(await peer.closed, 4002, 'and no later frame was delivered (R10)');
        }
      },
    );

    t.test('a frame before any request ends the socket, a revocation included (C-19)', async (t) => {
      for (const frame of [
        response(OTHER, 0x00, 'authenticated\n'),
        response(Buffer.alloc(16), 0x00, 'authenticated\n'),
      ]) {
        const engine = await startEngine(t);
        const call = connect(t, engine).execute('my_fills');
        const peer = await engine.peer();
        peer.send(frame);
        await t.rejects(call, { code: 'PROTOCOL_ERROR', reason: 'unmatched', outcome: 'not-sent' });
        t.equal(await peer.closed, 4002);
      }
    });

    t.test(
      'a second answer to a finished call ends the socket; the first one stands (R37, C-18)',
      async (t) => {
        const engine = await startEngine(t);
        const client = connect(t, engine);
        const call = client.execute('my_fills');
        const peer = await engine.ready();
        const request = await peer.next();
        peer.answer(request, 0x00, 'a\n1\n');
        peer.answer(request, 0x00, 'a\n2\n');
        t.same((await call).rows, [['1']]);
        t.equal(await peer.closed, 4002);
        await until(() => client.info().sockets.ready === 0);
      },
    );

    t.test('every status but the two of a one-shot ends the socket (R9, C-22, C-23)', async (t) => {
      const engine = await startEngine(t);
      const client = connect(t, engine);
      for (let status = 2; status <= 255; status++) {
        const call = client.execute('my_fills');
        call.catch(() => {});
        const peer = await engine.peer();
        const auth = await peer.next();
        if (status % 2) peer.answer(auth, status, 'authenticated\n');
        else {
          peer.answer(auth, 0x00, 'authenticated\n');
          peer.answer(await peer.next(), status, 'a\n');
        }
        const error = await call.then(
          () => undefined,
          (error) => error,
        );
        if (error?.code !== 'PROTOCOL_ERROR' || error.reason !== 'unknown-status')
          t.fail(`status ${status}: ${error}`);
        if ((await peer.closed) !== 4002) t.fail(`status ${status} left the socket open`);
      }
      t.equal(engine.peers.length, 254);
    });

    t.test('a stream status is not one of a call (R9, C-24)', async (t) => {
      const profile: EngineProfile = {
        ...documentedProfile,
        subscription: {
          statuses: { 208: 'snapshot' },
          readSnapshot: () => ({ columns: [], rows: [] }),
          readDeltas: () => [],
        },
      };
      const engine = await startEngine(t);
      const call = connect(t, engine, { profile }).execute('my_fills');
      const peer = await engine.ready();
      peer.answer(await peer.next(), 0xd0, 'a\n');
      await t.rejects(call, { code: 'PROTOCOL_ERROR', reason: 'status-not-for-op' });
      t.equal(await peer.closed, 4002);
    });

    t.test(
      'a message that is not exactly one binary frame ends the socket (R2, R6, R8, R10, C-01 to C-12)',
      async (t) => {
        const cases: readonly (readonly [string, string, (id: Buffer) => Buffer | string])[] = [
          ['C-01', 'short-frame', () => Buffer.alloc(0)],
          ['C-02', 'short-frame', (id) => Buffer.concat([id, hex('00 000000')])],
          ['C-04', 'trailing-bytes', (id) => Buffer.concat([id, hex('00 00000001 6162')])],
          ['C-05', 'truncated', (id) => Buffer.concat([id, hex('00 00000005 61626364')])],
          ['C-06', 'over-cap', (id) => Buffer.concat([id, hex('00 ffffffff')])],
          ['C-08', 'trailing-bytes', (id) => Buffer.concat([response(id, 0, 'a\n'), response(id, 0, 'a\n')])],
          ['C-10', 'trailing-bytes', (id) => Buffer.concat([response(id, 0, 'a\n'), Buffer.alloc(1)])],
          ['C-11', 'text-message', () => 'ok'],
          ['C-12', 'text-message', (id) => response(id, 0, 'a\n').toString('latin1')],
        ];
        for (const [what, reason, damage] of cases) {
          const engine = await startEngine(t);
          const call = connect(t, engine).execute('my_fills');
          const peer = await engine.ready();
          const request = await peer.next();
          peer.socket.send(damage(request.subarray(1, 17)));
          peer.answer(request, 0x00, 'a\n');
          await t.rejects(
            call,
            { code: 'PROTOCOL_ERROR', reason, outcome: 'unknown', retryable: false },
            what,
          );
          t.equal(await peer.closed, 4002, what);
        }
      },
    );

    t.test('a frame in two messages is two broken ones (R2, C-09)', async (t) => {
      const engine = await startEngine(t);
      const call = connect(t, engine).execute('my_fills');
      const peer = await engine.ready();
      const request = await peer.next();
      const whole = response(request.subarray(1, 17), 0x00, 'a\n');
      peer.send(whole.subarray(0, 21));
      peer.send(whole.subarray(21));
      await t.rejects(call, { code: 'PROTOCOL_ERROR', reason: 'truncated' });
      t.equal(await peer.closed, 4002);
    });

    t.test(
      'a response over the cap is refused, also where the library refuses it first (R7, C-07)',
      async (t) => {
        for (const extra of [1, 1000]) {
          const engine = await startEngine(t);
          const call = connect(t, engine, { limits: { maxResponseBytes: 1000 } }).execute('my_fills');
          const peer = await engine.ready();
          peer.answer(await peer.next(), 0x00, Buffer.alloc(1000 + extra, 0x61));
          await t.rejects(call, { code: 'PROTOCOL_ERROR', reason: 'over-cap', outcome: 'unknown' });
          await peer.closed;
        }
        const engine = await startEngine(t);
        const call = connect(t, engine, { limits: { maxResponseBytes: 1000 } }).execute('my_fills');
        const peer = await engine.ready();
        peer.answer(await peer.next(), 0x00, Buffer.alloc(1000, 0x61));
        t.equal((await call).columns[0]?.length, 1000, 'the cap itself is allowed');
      },
    );

    t.test('an engine that closes with 1009 found the request too large (N6)', async (t) => {
      const engine = await startEngine(t);
      const call = connect(t, engine).execute('my_fills');
      const peer = await engine.ready();
      await peer.next();
      peer.socket.close(1009);
      await t.rejects(call, { code: 'PROTOCOL_ERROR', reason: 'over-cap' });
    });

    t.test('an engine that cannot be reached, or is none, is CONNECTION_FAILED (C-82)', async (t) => {
      const http = createServer((_request, response) => response.writeHead(401).end());
      http.on('upgrade', (_request, socket) =>
        socket.end('HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\n\r\n'),
      );
      const wrongAccept = createServer();
      wrongAccept.on('upgrade', (_request, socket) => {
        socket.on('error', () => {});
        socket.end(
          'HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-accept: AAAA\r\n\r\n',
        );
      });
      const reset = createServer();
      reset.on('upgrade', (_request, socket) => socket.destroy());
      for (const server of [http, wrongAccept, reset]) {
        const url = await listen(t, server);
        const call = connect(t, { url }).execute('my_fills');
        await t.rejects(call, { code: 'CONNECTION_FAILED', outcome: 'not-sent', retryable: true });
      }
      const gone = await startEngine(t);
      const closedUrl = gone.url.replace(/\d+\/$/, '1/');
      await t.rejects(connect(t, { url: closedUrl }).execute('a'), { code: 'CONNECTION_FAILED' });
    });

    t.test('a connection that never opens is given up (R11, R67, C-81)', async (t) => {
      const silent = createTcpServer((socket) => socket.on('error', () => {}));
      silent.listen(0, '127.0.0.1');
      await once(silent, 'listening');
      const sockets = new Set<import('node:net').Socket>();
      silent.on('connection', (socket) => sockets.add(socket));
      t.teardown(() => {
        for (const socket of sockets) socket.destroy();
        silent.close();
      });
      const clock = new ManualClock();
      const client = connect(
        t,
        { url: `ws://127.0.0.1:${(silent.address() as AddressInfo).port}/` },
        { clock },
      );
      const call = client.execute('my_fills');
      call.catch(() => {});
      await until(() => sockets.size === 1);
      clock.advance(4_999);
      t.match(client.info().sockets, { connecting: 1 });
      clock.advance(1);
      await t.rejects(call, {
        code: 'DEADLINE_EXCEEDED',
        phase: 'connect',
        outcome: 'not-sent',
        retryable: true,
      });
      t.match(client.info().sockets, { connecting: 0 });
    });

    t.test('an authentication that is never answered is given up (R11, R67, C-80)', async (t) => {
      const engine = await startEngine(t);
      const clock = new ManualClock();
      const call = connect(t, engine, { clock }).execute('my_fills');
      call.catch(() => {});
      const peer = await engine.peer();
      await peer.next();
      clock.advance(5_000);
      await t.rejects(call, { code: 'DEADLINE_EXCEEDED', phase: 'auth', outcome: 'not-sent' });
      t.equal(await peer.closed, 4008);
    });

    t.test('an authenticate callback that never settles is given up (R11, N1)', async (t) => {
      const engine = await startEngine(t);
      const clock = new ManualClock();
      const call = connect(t, engine, { clock, authenticate: () => new Promise(() => {}) }).execute(
        'my_fills',
      );
      call.catch(() => {});
      await until(() => clock.pending === 2);
      clock.advance(5_000);
      await t.rejects(call, { code: 'DEADLINE_EXCEEDED', phase: 'auth', outcome: 'not-sent' });
      t.equal(engine.peers.length, 0);
    });

    t.test('a socket that the engine closes leaves no timer behind', async (t) => {
      const engine = await startEngine(t);
      const clock = new ManualClock();
      const client = connect(t, engine, { clock });
      const call = client.execute('my_fills');
      const peer = await engine.ready();
      peer.answer(await peer.next(), 0x00, 'a\n');
      await call;
      peer.socket.close(1000);
      await until(() => client.info().sockets.ready === 0 && clock.pending === 0);
      t.same(await client.close(), undefined);
    });

    t.test('an idle socket is closed after its time (R67)', async (t) => {
      const engine = await startEngine(t);
      const clock = new ManualClock();
      const client = connect(t, engine, { clock });
      const call = client.execute('my_fills');
      const peer = await engine.ready();
      peer.answer(await peer.next(), 0x00, 'a\n');
      await call;
      for (const ms of [25_000, 25_000, 9_999]) {
        clock.advance(ms);
        // Two round trips: the answer to a ping of the client has arrived then.
        for (let trip = 0; trip < 2; trip++) {
          peer.socket.ping();
          await once(peer.socket, 'pong');
        }
      }
      t.equal(client.info().sockets.ready, 1);
      clock.advance(1);
      t.equal(client.info().sockets.ready, 0);
      t.equal(await peer.closed, 4000);
    });

    t.test(
      'without a capability codec 0x0F is never sent; with one it comes before OP_AUTH (R16, R17, R33)',
      async (t) => {
        const engine = await startEngine(t);
        const profile: EngineProfile = {
          ...documentedProfile,
          capability: {
            payload: Buffer.from('wire-v2'),
            accepts: (status, payload) => status === 0x00 && Buffer.from(payload).toString() === 'granted',
          },
        };
        const client = connect(t, engine, { profile });
        const call = client.execute('my_fills');
        const peer = await engine.peer();
        const capability = await peer.next();
        t.equal(payloadOf(capability), 'wire-v2');
        peer.answer(capability, 0x00, 'granted');
        await peer.authenticate();
        peer.answer(await peer.next(), 0x00, 'a\n1\n');
        t.same((await call).rows, [['1']], 'the answer is a table all the same');
        t.same(peer.ops, [0x0f, 0x09, 0x0b]);

        const refused = connect(t, engine, { profile }).execute('my_fills');
        const other = await engine.peer();
        other.answer(await other.next(), 0x01, 'unsupported');
        await t.rejects(refused, { code: 'PROTOCOL_ERROR', reason: 'contradictory', outcome: 'not-sent' });
        t.same(other.ops, [0x0f], 'authentication does not follow');
      },
    );

    t.test('a revocation before authentication is not one (R63, C-19)', async (t) => {
      const engine = await startEngine(t);
      const profile: EngineProfile = {
        ...documentedProfile,
        capability: { payload: Buffer.from('wire-v2'), accepts: () => true },
      };
      const call = connect(t, engine, { profile }).execute('my_fills');
      const peer = await engine.peer();
      await peer.next();
      peer.send(REVOCATION);
      await t.rejects(call, { code: 'PROTOCOL_ERROR', reason: 'unmatched' });
    });
  });

async function listen(t: Test, server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => void server.close());
  return `ws://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

t.test('binaryType is set before anything can arrive, and a Blob is never awaited (R1, C-13)', async (t) => {
  const order: string[] = [];
  const listeners = new Map<string, (event: object) => void>();
  const client = createEndpointClient({
    url: 'ws://127.0.0.1:9/',
    authenticate: () => ({ provider: 'p', token: 't' }),
    // Stands in for an implementation that ignores binaryType: no real one here does.
    webSocket: () => ({
      protocol: '',
      set binaryType(value: string) {
        order.push(value);
      },
      addEventListener: (type, listener) => {
        order.push(type);
        listeners.set(type, listener);
      },
      send: () => order.push('send'),
      close: (code) => order.push(`close ${code}`),
    }),
  });
  t.teardown(() => listeners.get('close')?.({}));
  const call = client.execute('my_fills');
  call.catch(() => {});
  await until(() => listeners.has('close'));
  t.equal(order[0], 'arraybuffer');
  listeners.get('open')?.({});
  await until(() => order.includes('send'));
  listeners.get('message')?.({ data: new Blob(['x']) });
  await t.rejects(call, { code: 'PROTOCOL_ERROR', reason: 'not-arraybuffer' });
  t.ok(order.includes('close 4002'));
});

t.test('close() waits also for a socket that was ended just before', async (t) => {
  const listeners = new Map<string, (event: object) => void>();
  const client = createEndpointClient({
    url: 'ws://127.0.0.1:9/',
    authenticate: () => ({ provider: 'p', token: 't' }),
    // Stands in for a closing handshake that takes its time.
    webSocket: () => ({
      protocol: '',
      binaryType: 'blob',
      addEventListener: (type, listener) => listeners.set(type, listener),
      send: () => {},
      close: () => {},
    }),
  });
  const controller = new AbortController();
  const call = client.execute('a', [], { signal: controller.signal });
  await until(() => listeners.has('close'));
  controller.abort();
  await t.rejects(call, { code: 'CANCELLED' });
  let isClosed = false;
  const closed = client.close().then(() => {
    isClosed = true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  t.equal(isClosed, false);
  listeners.get('close')?.({});
  await closed;
});

t.test('a factory that throws is CONNECTION_FAILED, without what it threw', async (t) => {
  const client = createEndpointClient({
    url: 'ws://127.0.0.1:9/',
    authenticate: () => ({ provider: 'p', token: 't' }),
    webSocket: () => {
      throw new SyntaxError('bad url');
    },
  });
  await t.rejects(client.execute('a'), { code: 'CONNECTION_FAILED', cause: undefined });
});
