import type { ClientEvent } from '@nn-runtime/nyxdb';
import t, { type Test } from 'tap';
import { implementations } from './clients.js';
import { payloadOf, REVOCATION, startEngine } from './engine.js';
import { until } from './time.js';

for (const { name, connect } of implementations)
  t.test(`revocation over ${name}`, async (t: Test) => {
    t.test('is accepted with nothing in flight, and empties the pool (R63, C-31)', async (t) => {
      const engine = await startEngine(t);
      const events: ClientEvent[] = [];
      const client = connect(t, engine, { onEvent: (event) => events.push(event) });
      const calls = [client.execute('one'), client.execute('two')];
      const peers = [await engine.ready(), await engine.ready()];
      for (const peer of peers) peer.answer(await peer.next(), 0x00, 'a\n');
      await Promise.all(calls);
      peers[0]?.send(REVOCATION);
      await Promise.all(peers.map((peer) => peer.closed));
      t.same(client.info().sockets, { connecting: 0, authenticating: 0, ready: 0, busy: 0, draining: 0 });
      t.equal(events.filter((event) => event.name === 'revoked').length, 1);
    });

    t.test('ends every call of that principal; each may have run (R64, C-32)', async (t) => {
      const engine = await startEngine(t);
      const client = connect(t, engine);
      const calls = [client.execute('one'), client.execute('two')];
      const peers = [await engine.ready(), await engine.ready()];
      const requests = await Promise.all(peers.map((peer) => peer.next()));
      peers[0]?.send(REVOCATION);
      peers[0]?.answer(requests[0] as Buffer, 0x00, 'late\n');
      for (const call of calls)
        await t.rejects(call, { code: 'AUTH_REVOKED', outcome: 'unknown', retryable: false });
      t.same(
        await Promise.all(peers.map((peer) => peer.closed)),
        [4401, 4401],
        'we close, the engine need not',
      );
    });

    t.test('is also one on the id of the request it ends (R64, C-34)', async (t) => {
      const engine = await startEngine(t);
      const call = connect(t, engine).execute('one');
      const peer = await engine.ready();
      peer.answer(await peer.next(), 0x01, 'auth revoked');
      await t.rejects(call, { code: 'AUTH_REVOKED' });
      t.equal(await peer.closed, 4401);
    });

    t.test('is an ordinary text when it is not byte for byte that one (N6)', async (t) => {
      const engine = await startEngine(t);
      const call = connect(t, engine).execute('one');
      const peer = await engine.ready();
      peer.answer(await peer.next(), 0x01, 'auth revoked\n');
      await t.rejects(call, { code: 'APPLICATION_ERROR', reason: 'auth-revoked' });
    });

    t.test('lets the same token open nothing again, and a new one start afresh (R65, C-35)', async (t) => {
      const engine = await startEngine(t);
      let token = 'old';
      const client = connect(t, engine, { authenticate: () => ({ provider: 'p', token }) });
      const call = client.execute('one');
      const peer = await engine.ready();
      await peer.next();
      peer.send(REVOCATION);
      await t.rejects(call, { code: 'AUTH_REVOKED' });
      await t.rejects(client.execute('two'), { code: 'AUTH_REVOKED', outcome: 'not-sent', retryable: false });
      client.setAuthenticate(() => ({ provider: 'p', token }));
      await t.rejects(client.execute('two'), { code: 'AUTH_REVOKED', outcome: 'not-sent' });
      t.equal(engine.peers.length, 1, 'no connection was attempted');
      token = 'new';
      const next = client.execute('three');
      const fresh = await engine.peer();
      t.equal(payloadOf(await fresh.authenticate()), 'p\0new');
      fresh.answer(await fresh.next(), 0x00, 'a\n');
      t.same((await next).columns, ['a']);
    });

    t.test('leaves the sockets of another principal alone (R22)', async (t) => {
      const engine = await startEngine(t);
      let token = 'old';
      const client = connect(t, engine, { authenticate: () => ({ provider: 'p', token }) });
      const one = client.execute('one');
      const first = await engine.ready();
      await first.next();
      token = 'new';
      const two = client.execute('two');
      const second = await engine.ready();
      const request = await second.next();
      first.send(REVOCATION);
      await t.rejects(one, { code: 'AUTH_REVOKED' });
      second.answer(request, 0x00, 'a\n');
      t.same((await two).columns, ['a']);
    });

    t.test('during authentication it is one too', async (t) => {
      const engine = await startEngine(t);
      const client = connect(t, engine);
      const call = client.execute('one');
      const peer = await engine.peer();
      await peer.next();
      peer.send(REVOCATION);
      await t.rejects(call, { code: 'AUTH_REVOKED', outcome: 'not-sent' });
      await until(() => client.info().sockets.authenticating === 0);
    });
  });
