import { isDeepStrictEqual } from 'node:util';
import t, { type Test } from 'tap';
import { implementations } from './clients.js';
import { hex, payloadOf, startEngine } from './engine.js';
import { ManualClock, until } from './time.js';

for (const { name, connect } of implementations)
  t.test(`execute over ${name}`, async (t: Test) => {
    t.test('sends name and parameters in order and gives columns and rows (R3, R16, R29, R34)', async (t) => {
      const engine = await startEngine(t);
      const client = connect(t, engine);
      const call = client.execute('my_fills', ['BTC-USD', '']);
      const peer = await engine.ready();
      const request = await peer.next();
      t.same(request.subarray(0, 1), hex('0b'));
      t.same(
        request.subarray(17),
        hex('00000011 6d795f66696c6c73 00 4254432d555344 00'),
        'length, name, NUL, parameter, NUL, an empty parameter',
      );
      peer.answer(request, 0x00, 'id\tpx\n1\t10.5\n2\t\n');
      const result = await call;
      t.ok(
        isDeepStrictEqual(
          { ...result },
          {
            columns: ['id', 'px'],
            rows: [
              ['1', '10.5'],
              ['2', ''],
            ],
          },
        ),
      );
      t.same(result.objects(), [
        { id: '1', px: '10.5' },
        { id: '2', px: '' },
      ]);
      t.same(peer.ops, [0x09, 0x0b], 'authentication first, and nothing else');
    });

    t.test('no parameter and one empty parameter differ by one byte (R29)', async (t) => {
      const engine = await startEngine(t);
      const client = connect(t, engine);
      const none = client.execute('my_fills');
      const peer = await engine.ready();
      const first = await peer.next();
      t.same(first.subarray(17), hex('00000008 6d795f66696c6c73'));
      peer.answer(first, 0x00, 'a\n');
      await none;
      const empty = client.execute('my_fills', ['']);
      const second = await peer.next();
      t.same(second.subarray(17), hex('00000009 6d795f66696c6c73 00'));
      peer.answer(second, 0x00, 'a\n');
      await empty;
    });

    t.test('a name that is a relation UUID goes out as it is written (R35)', async (t) => {
      const engine = await startEngine(t);
      const call = connect(t, engine).execute('6F9619FF-8B86-D011-B42D-00C04FC964FF');
      const peer = await engine.ready();
      const request = await peer.next();
      t.equal(payloadOf(request), '6F9619FF-8B86-D011-B42D-00C04FC964FF');
      peer.answer(request, 0x00, 'a\n');
      t.same((await call).rows, []);
    });

    t.test('a socket has one call at a time, and is used again (R36, R21)', async (t) => {
      const engine = await startEngine(t);
      const client = connect(t, engine, { limits: { poolSize: 1 } });
      const calls = [client.execute('one'), client.execute('two'), client.execute('three')];
      const peer = await engine.ready();
      for (const name of ['one', 'two', 'three']) {
        const request = await peer.next();
        t.equal(payloadOf(request), name);
        t.equal(peer.frames.at(-1), request, 'nothing was sent behind it');
        peer.answer(request, 0x00, `${name}\n`);
      }
      t.same(
        (await Promise.all(calls)).map((result) => result.columns),
        [['one'], ['two'], ['three']],
      );
      t.same(peer.ops, [0x09, 0x0b, 0x0b, 0x0b], 'one authentication for the socket (R20)');
      t.equal(engine.peers.length, 1);
    });

    t.test('calls at the same time have a socket each, up to the pool size (R21, R36)', async (t) => {
      const engine = await startEngine(t);
      const client = connect(t, engine, { limits: { poolSize: 2 } });
      const calls = ['a', 'b', 'c'].map((endpoint) => client.execute(endpoint));
      const peers = [await engine.ready(), await engine.ready()];
      const requests = await Promise.all(peers.map((peer) => peer.next()));
      t.same(requests.map(payloadOf).sort(), ['a', 'b']);
      t.equal(client.info().waiting, 1);
      t.match(client.info().sockets, { busy: 2, ready: 0, connecting: 0 });
      for (const [index, peer] of peers.entries()) peer.answer(requests[index] as Buffer, 0x00, 'x\n');
      const third = await Promise.race(peers.map(async (peer) => ({ peer, request: await peer.next() })));
      third.peer.answer(third.request, 0x00, 'x\n');
      await Promise.all(calls);
      t.equal(engine.peers.length, 2);
    });

    t.test('more calls than may wait are refused at once, not queued without bound', async (t) => {
      const engine = await startEngine(t);
      const client = connect(t, engine, { limits: { poolSize: 1, maxWaiting: 1 } });
      const first = client.execute('a');
      const second = client.execute('b');
      await t.rejects(client.execute('c'), {
        code: 'BUSY',
        reason: 'waiting',
        outcome: 'not-sent',
        retryable: true,
      });
      const peer = await engine.ready();
      peer.answer(await peer.next(), 0x00, 'a\n');
      peer.answer(await peer.next(), 0x00, 'b\n');
      t.same([(await first).columns, (await second).columns], [['a'], ['b']]);
    });

    t.test(
      'a busy engine is asked again with another id, with jitter, until attempts run out (R13, R61, C-40)',
      async (t) => {
        const engine = await startEngine(t);
        const clock = new ManualClock();
        const delays: number[] = [];
        const client = connect(t, engine, {
          clock,
          random: { fill: (bytes) => crypto.getRandomValues(bytes), fraction: () => 0.5 },
          onEvent: (event) => {
            if (event.name === 'call-delayed') delays.push(event.delayMs);
          },
        });
        const call = client.execute('my_fills');
        call.catch(() => {});
        const peer = await engine.ready();
        const ids = new Set<string>();
        for (let send = 1; send <= 5; send++) {
          const request = await peer.next();
          ids.add(request.subarray(1, 17).toString('hex'));
          const text =
            send % 2 ? 'server busy: query admission rejected' : 'server busy: query admission timed out\n';
          peer.answer(request, 0x01, text);
          if (send === 5) break;
          await until(() => delays.length === send);
          clock.advance(delays[send - 1] ?? 0);
        }
        await t.rejects(call, { code: 'BUSY', outcome: 'not-run', retryable: true });
        t.equal(ids.size, 5);
        t.same(delays, [125, 250, 500, 1000], 'half of 250 ms doubled each time');
      },
    );

    t.test('a busy engine is not waited for past the total deadline (R61, N4)', async (t) => {
      const engine = await startEngine(t);
      const clock = new ManualClock();
      const client = connect(t, engine, {
        clock,
        random: { fill: (bytes) => crypto.getRandomValues(bytes), fraction: () => 0.99 },
      });
      const call = client.execute('my_fills', [], { timeoutMs: 200 });
      const peer = await engine.ready();
      peer.answer(await peer.next(), 0x01, 'server busy: query admission rejected');
      await t.rejects(call, { code: 'BUSY', outcome: 'not-run' });
      t.equal(peer.frames.length, 2, 'sent once');
    });

    t.test('an invalid parameter is refused for good and the socket goes on (R60, R62)', async (t) => {
      const engine = await startEngine(t);
      const client = connect(t, engine);
      const call = client.execute('my_fills', ['x']);
      const peer = await engine.ready();
      peer.answer(await peer.next(), 0x01, 'invalid parameter');
      await t.rejects(call, {
        code: 'APPLICATION_ERROR',
        reason: 'invalid-parameter',
        outcome: 'not-run',
        retryable: false,
      });
      const next = client.execute('my_fills');
      peer.answer(await peer.next(), 0x00, 'a\n');
      t.same((await next).columns, ['a']);
    });

    t.test('a text that every object has as a name is unknown, too (R60)', async (t) => {
      const engine = await startEngine(t);
      const call = connect(t, engine).execute('my_fills');
      const peer = await engine.ready();
      peer.answer(await peer.next(), 0x01, 'constructor');
      await t.rejects(call, { code: 'APPLICATION_ERROR', reason: 'unrecognized', outcome: 'unknown' });
    });

    t.test(
      'an unknown error text is not interpreted, and kept bounded where nothing prints it (R60, C-38)',
      async (t) => {
        const engine = await startEngine(t);
        const call = connect(t, engine).execute('my_fills');
        const peer = await engine.ready();
        peer.answer(await peer.next(), 0x01, `relation "x"\u001b[2J does not exist${'!'.repeat(500)}`);
        const error = await call.then(
          () => t.fail('must reject'),
          (error) => error,
        );
        t.match(error, {
          code: 'APPLICATION_ERROR',
          reason: 'unrecognized',
          outcome: 'unknown',
          retryable: false,
        });
        t.match(error.engineText, /^relation "x"\\u001b\[2J does not exist!+$/);
        t.ok(error.engineText.length <= 256 + 5);
        t.notMatch(`${error.stack}${JSON.stringify(error)}`, /relation/);
      },
    );

    t.test('an error text that is not UTF-8 ends the socket (C-39)', async (t) => {
      const engine = await startEngine(t);
      const call = connect(t, engine).execute('my_fills');
      const peer = await engine.ready();
      peer.answer(await peer.next(), 0x01, hex('fffe'));
      await t.rejects(call, { code: 'PROTOCOL_ERROR', reason: 'utf8', outcome: 'unknown' });
      t.equal(await peer.closed, 4002);
    });

    t.test(
      'an answer that is not a table ends the socket; the query had completed (R34, C-03, C-44)',
      async (t) => {
        for (const [body, reason] of [
          ['', 'tsv-no-header'],
          ['a\tb\n1\n', 'tsv-columns'],
          ['a\n1\t2\n', 'tsv-columns'],
          [hex('61 0a ff 0a'), 'utf8'],
        ] as const) {
          const engine = await startEngine(t);
          const call = connect(t, engine).execute('my_fills');
          const peer = await engine.ready();
          peer.answer(await peer.next(), 0x00, body);
          await t.rejects(call, { code: 'PROTOCOL_ERROR', reason, outcome: 'completed', retryable: false });
          t.equal(await peer.closed, 4002);
        }
      },
    );

    t.test('more rows or columns than the limits are refused (C-94)', async (t) => {
      for (const body of ['a\tb\tc\n', 'a\n1\n2\n3\n']) {
        const engine = await startEngine(t);
        const call = connect(t, engine, { limits: { maxRows: 2, maxColumns: 2 } }).execute('my_fills');
        const peer = await engine.ready();
        peer.answer(await peer.next(), 0x00, body);
        await t.rejects(call, { code: 'PROTOCOL_ERROR', reason: 'over-cap' });
      }
    });

    t.test('a call whose socket is lost may have run, and is not repeated (R62, C-57)', async (t) => {
      const engine = await startEngine(t);
      const call = connect(t, engine).execute('my_fills');
      const peer = await engine.ready();
      await peer.next();
      peer.socket.terminate();
      await t.rejects(call, { code: 'CONNECTION_LOST', outcome: 'unknown', retryable: false });
      t.equal(engine.peers.length, 1);
    });

    t.test(
      'a socket that is gone is replaced for the next call, which authenticates anew (R21, R68, C-79)',
      async (t) => {
        const engine = await startEngine(t);
        const client = connect(t, engine);
        const first = client.execute('one');
        const peer = await engine.ready();
        peer.answer(await peer.next(), 0x00, 'a\n');
        await first;
        peer.socket.close(1000);
        await until(() => client.info().sockets.ready === 0);
        const second = client.execute('two');
        const next = await engine.ready();
        next.answer(await next.next(), 0x00, 'b\n');
        t.same((await second).columns, ['b']);
        t.same(next.ops, [0x09, 0x0b]);
      },
    );

    t.test('wrong arguments are TypeErrors, and nothing is opened (R23, R30, R32, C-48)', async (t) => {
      const engine = await startEngine(t);
      const client = connect(t, engine, { limits: { maxRequestBytes: 20 } });
      const wrong: readonly (readonly [unknown, unknown])[] = [
        ['', []],
        ['a\0b', []],
        ['a\ud800', []],
        ['a', ['x\0y']],
        ['a', ['\udc00']],
        ['a', [null]],
        ['a', [undefined]],
        ['a', [1]],
        ['a', [['x']]],
        [['a'], []],
        ['a', [true]],
        ['a', 'abc'],
        ['a', Object.assign(new Array(2), { 1: 'x' })],
        ['much longer than twenty bytes', []],
      ];
      for (const [endpoint, parameters] of wrong)
        await t.rejects(client.execute(endpoint as string, parameters as string[]), TypeError);
      await t.rejects(client.execute(7 as unknown as string), TypeError);
      for (const timeoutMs of [0, -1, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 31])
        await t.rejects(client.execute('a', [], { timeoutMs }), TypeError);
      t.equal(engine.peers.length, 0);
    });

    t.test('after close() calls are refused and pending ones end (N7)', async (t) => {
      const engine = await startEngine(t);
      const client = connect(t, engine);
      const call = client.execute('my_fills');
      const peer = await engine.ready();
      await peer.next();
      const closing = client.close();
      await t.rejects(call, { code: 'CLOSED', outcome: 'unknown' });
      await closing;
      t.equal(await peer.closed, 4000);
      await t.rejects(client.execute('my_fills'), { code: 'CLOSED', outcome: 'not-sent' });
      t.equal(engine.peers.length, 1);
    });

    t.test('drain() lets calls finish, refuses new ones and closes (R58, N8)', async (t) => {
      const engine = await startEngine(t);
      const client = connect(t, engine);
      const call = client.execute('my_fills');
      const peer = await engine.ready();
      const request = await peer.next();
      const drained = client.drain();
      await t.rejects(client.execute('other'), { code: 'CLOSED' });
      peer.answer(request, 0x00, 'a\n');
      t.same((await call).columns, ['a']);
      await drained;
      t.equal(await peer.closed, 4000);
    });
  });
