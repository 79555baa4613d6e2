import { type ClientEvent, createEndpointClient } from '@nn-runtime/nyxdb';
import t, { type Test } from 'tap';
import { implementations } from './clients.js';
import { payloadOf, REVOCATION, startEngine } from './engine.js';
import { until } from './time.js';

for (const { name, connect } of implementations)
  t.test(`a client used in odd ways over ${name}`, async (t: Test) => {
    for (const [what, strike, code] of [
      ['a lost socket', 'close', 'CONNECTION_LOST'],
      ['a changed principal', 'change', 'AUTH_CHANGED'],
      ['a revocation', 'revoke', 'AUTH_REVOKED'],
    ] as const)
      t.test(`an observer that calls at ${what} gets a socket that is good`, async (t) => {
        const engine = await startEngine(t);
        let token = 'former';
        let again: Promise<{ columns: string[] }> | undefined;
        let isArmed = false;
        const codes: unknown[] = [];
        const onEvent = (event: ClientEvent): void => {
          if (event.name === 'socket-ended') codes.push(event.code);
          if (!isArmed || (event.name !== 'socket-ended' && event.name !== 'revoked')) return;
          isArmed = false;
          token = 'next';
          again = client.execute('again');
        };
        const client = connect(t, engine, { onEvent, authenticate: () => ({ provider: 'p', token }) });
        // Two that the client ends; or the one that it loses.
        const calls =
          strike === 'close' ? [client.execute('one')] : [client.execute('one'), client.execute('two')];
        const peers = await Promise.all(calls.map(() => engine.ready()));
        for (const peer of peers) peer.answer(await peer.next(), 0x00, 'a\n');
        await Promise.all(calls);
        isArmed = true;
        if (strike === 'close') for (const peer of peers) peer.socket.close();
        else if (strike === 'change') client.setAuthenticate(() => ({ provider: 'p', token }));
        else peers[0]?.send(REVOCATION);
        await until(() => again !== undefined);
        const fresh = await engine.peer();
        t.equal(payloadOf(await fresh.authenticate()), 'p\0next');
        fresh.answer(await fresh.next(), 0x00, 'b\n');
        t.same((await again)?.columns, ['b']);
        t.same(
          codes,
          peers.map(() => code),
        );
      });

    t.test('the token given last counts, not the one whose socket was ready last (R22)', async (t) => {
      const engine = await startEngine(t);
      let token = 'former';
      const client = connect(t, engine, { authenticate: () => ({ provider: 'p', token }) });
      const one = client.execute('one');
      const slow = await engine.peer();
      const held = await slow.next();
      token = 'next';
      const two = client.execute('two');
      const quick = await engine.ready();
      quick.answer(await quick.next(), 0x00, 'a\n');
      await two;
      slow.answer(held, 0x00, 'authenticated\n');
      slow.answer(await slow.next(), 0x00, 'a\n');
      await one;
      t.equal(await slow.closed, 4000);
      const three = client.execute('three');
      const request = await quick.next();
      t.equal(payloadOf(request), 'three');
      quick.answer(request, 0x00, 'a\n');
      await three;
      t.equal(engine.peers.length, 2);
    });

    t.test('nothing opens after close(), however soon after the credentials it comes', async (t) => {
      const engine = await startEngine(t);
      for (let turns = 0; turns < 8; turns++) {
        const events: string[] = [];
        let closed: Promise<void> | undefined;
        const client = connect(t, engine, {
          onEvent: (event) => events.push(`${event.name} ${'code' in event ? event.code : ''}`),
          authenticate() {
            const given = Promise.resolve({ provider: 'p', token: 't' });
            let later: Promise<unknown> = given;
            for (let turn = 0; turn < turns; turn++) later = later.then(() => {});
            void later.then(() => {
              closed = client.close();
            });
            return given;
          },
        });
        await t.rejects(client.execute('a'), { code: 'CLOSED', outcome: 'not-sent' });
        await closed;
        t.equal(client.info().sockets.connecting, 0, `${turns} turns later`);
        t.notOk(events.includes('socket-ended CONNECTION_FAILED'));
      }
      for (const peer of engine.peers) t.same(peer.ops, []);
    });

    t.test(
      'credentials that cannot be read are CREDENTIALS_UNAVAILABLE, without what was thrown',
      async (t) => {
        const engine = await startEngine(t);
        const thrown = new Error('canary');
        const client = connect(t, engine, {
          authenticate: () => ({
            provider: 'p',
            get token(): string {
              throw thrown;
            },
          }),
        });
        const error = await client.execute('a').then(
          () => t.fail('must reject'),
          (error) => error,
        );
        t.match(error, { code: 'CREDENTIALS_UNAVAILABLE', outcome: 'not-sent' });
        t.notMatch(error.message, 'canary');
        t.equal(error.thrown, thrown);
        t.equal(engine.peers.length, 0);
      },
    );

    t.test('a signal that is none is a TypeError, and the client goes on and closes', async (t) => {
      const engine = await startEngine(t);
      const client = connect(t, engine);
      await t.rejects(client.execute('a', [], { signal: {} as AbortSignal }), TypeError);
      client.setAuthenticate(() => ({ provider: 'p', token: 't' }));
      const call = client.execute('a');
      const peer = await engine.ready();
      peer.answer(await peer.next(), 0x00, 'a\n');
      t.same((await call).columns, ['a']);
      await client.close();
    });

    t.test('a random source that fails for a while takes no place in the pool', async (t) => {
      const engine = await startEngine(t);
      let isBroken = false;
      const client = connect(t, engine, {
        limits: { poolSize: 1 },
        random: {
          fill(bytes) {
            if (isBroken) throw new Error('no randomness');
            crypto.getRandomValues(bytes);
          },
          fraction: () => 0,
        },
      });
      let peer = engine.peers[0];
      const call = async (): Promise<void> => {
        const answered = client.execute('a');
        peer ??= await engine.ready();
        peer.answer(await peer.next(), 0x00, 'a\n');
        await answered;
      };
      // One id is OP_AUTH's; 256 come of one filling.
      for (let count = 0; count < 255; count++) await call();
      isBroken = true;
      await t.rejects(client.execute('a'), { message: 'no randomness' });
      isBroken = false;
      await call();
      t.equal(engine.peers.length, 1);
    });
  });

t.test('a factory that gives no socket is CONNECTION_FAILED, and nothing else comes of it', async (t) => {
  const unhandled: unknown[] = [];
  const hear = (error: unknown): void => void unhandled.push(error);
  process.on('unhandledRejection', hear);
  t.teardown(() => process.off('unhandledRejection', hear));
  for (const given of [Promise.resolve({}), {}, undefined]) {
    const client = createEndpointClient({
      authenticate: () => ({ provider: 'p', token: 't' }),
      url: 'ws://127.0.0.1:9/',
      webSocket: (() => given) as never,
    });
    await t.rejects(client.execute('a'), { code: 'CONNECTION_FAILED', outcome: 'not-sent' });
    t.equal(client.info().sockets.connecting, 0);
  }
  await new Promise((resolve) => setImmediate(resolve));
  t.same(unhandled, []);
});
