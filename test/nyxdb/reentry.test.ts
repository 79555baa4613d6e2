import {
  type ClientEvent,
  developmentProfile,
  type EndpointClient,
  type EndpointClientOptions,
  type Subscription,
  type SubscriptionState,
} from '@nn-runtime/nyxdb';
import t, { type Test } from 'tap';
import { implementations } from './clients.js';
import { DELTA, END, SNAPSHOT, startEngine, subscribed } from './engine.js';
import { ManualClock, until } from './time.js';

/**
 * What an application does from within: in an observer of events, in its own `authenticate`, between a reader's two turns. Whatever
 * it does there, an end stays an end, is told once, and what is read is what is so.
 */

for (const { name, connect } of implementations) {
  const stage = async (t: Test, options: Partial<EndpointClientOptions>) => {
    const engine = await startEngine(t);
    const clock = new ManualClock();
    return { engine, clock, client: connect(t, engine, { clock, profile: developmentProfile, ...options }) };
  };

  t.test(`from within, over ${name}`, async (t) => {
    t.test('the state is the new one already when its event comes', async (t) => {
      const seen: (readonly [string, SubscriptionState | undefined])[] = [];
      let subscription: Subscription | undefined;
      const { engine, client } = await stage(t, {
        onEvent(event) {
          if (event.name === 'subscription-live' && subscription !== undefined)
            seen.push([subscription.state, subscription.latest()]);
        },
      });
      subscription = client.subscribe('book');
      const { peer, request } = await subscribed(engine);
      peer.answer(request, SNAPSHOT, 'a\n1\n');
      // One after the other: events come after what they tell of, and so after both when both come in one packet.
      await until(() => seen.length === 1);
      peer.answer(request, SNAPSHOT, 'a\n2\n');
      await until(() => seen.length === 2);
      t.match(seen, [
        ['live', { generation: 1, kind: 'snapshot', stale: false, rows: [['1']] }],
        ['live', { generation: 2, kind: 'snapshot', stale: false, rows: [['2']] }],
      ]);
      await subscription.close();
    });

    for (const at of ['subscription-live', 'socket-ready', 'subscription-retry', 'socket-ended'] as const)
      for (const how of ['subscription', 'client', 'abort'] as const)
        t.test(`ended by ${how} in ${at}, it stays ended, and says so once`, async (t) => {
          const events: ClientEvent[] = [];
          const controller = new AbortController();
          let subscription: Subscription | undefined;
          let client: EndpointClient | undefined;
          let ended = false;
          const staged = await stage(t, {
            onEvent(event) {
              events.push(event);
              if (event.name !== at || ended) return;
              ended = true;
              if (how === 'subscription') void subscription?.close();
              else if (how === 'client') void client?.close();
              else controller.abort();
            },
          });
          client = staged.client;
          subscription = client.subscribe('book', [], { signal: controller.signal });
          const reading = subscription.next().catch((error: unknown) => error);
          const { peer, request } =
            at === 'socket-ready'
              ? { peer: await staged.engine.ready(), request: undefined }
              : await subscribed(staged.engine);
          if (request !== undefined) {
            peer.answer(request, SNAPSHOT, 'a\n1\n');
            if (at !== 'subscription-live') peer.socket.terminate();
          }
          await peer.closed;
          const final = how === 'abort' ? 'failed' : 'ended';
          await until(() => events.some((event) => event.name === 'subscription-ended'));
          await subscription.close();
          staged.clock.advance(600_000);
          await client.close();
          t.equal(subscription.state, final);
          t.match(
            await reading,
            at === 'socket-ready'
              ? how === 'abort'
                ? { code: 'CANCELLED' }
                : { done: true }
              : { value: { rows: [['1']] } },
          );
          if (how === 'abort') await t.rejects(subscription.next(), { code: 'CANCELLED' });
          else t.same(await subscription.next(), { done: true, value: undefined });
          t.equal(events.filter((event) => event.name === 'subscription-ended').length, 1);
          t.equal(staged.engine.peers.length, 1, 'nothing is opened after it');
          t.same(client.info().sockets, { connecting: 0, authenticating: 0, ready: 0, busy: 0, draining: 0 });
        });

    for (const how of ['client', 'abort', 'setAuthenticate', 'drain'] as const)
      t.test(`${how} in a synchronous authenticate ends what asked for it`, async (t) => {
        const events: ClientEvent[] = [];
        const controller = new AbortController();
        let asked = 0;
        let client: EndpointClient | undefined;
        const credentials = { provider: 'p', token: 't' };
        const staged = await stage(t, {
          onEvent: (event) => events.push(event),
          authenticate() {
            asked++;
            if (how === 'client') void client?.close();
            else if (how === 'drain') void client?.drain();
            else if (how === 'abort') controller.abort('left');
            else client?.setAuthenticate(() => credentials);
            return credentials;
          },
        });
        client = staged.client;
        const code = {
          client: undefined,
          drain: undefined,
          abort: 'CANCELLED',
          setAuthenticate: 'AUTH_CHANGED',
        }[how];
        const subscription = client.subscribe('book', [], { signal: controller.signal });
        if (code === undefined) t.same(await subscription.next(), { done: true, value: undefined });
        else await t.rejects(subscription.next(), { code });
        t.equal(subscription.state, code === undefined ? 'ended' : 'failed');
        await subscription.close();
        t.same(events, [{ name: 'subscription-ended', code }]);
        t.equal(asked, 1);
        t.equal(staged.engine.peers.length, 0);
        t.equal(staged.clock.pending, 0);
      });

    t.test("the stream's own end leaves its last state, read or not, and it is not stale", async (t) => {
      const { engine, client } = await stage(t, {});
      const subscription = client.subscribe('book');
      const { peer, request } = await subscribed(engine);
      peer.answer(request, SNAPSHOT, 'a\n1\n');
      peer.answer(request, DELTA, '~\t0\t2\n');
      peer.answer(request, END, '');
      await until(() => subscription.state === 'ended');
      t.match(await subscription.next(), {
        done: false,
        value: { kind: 'snapshot', stale: false, rows: [['2']] },
      });
      t.same(await subscription.next(), { done: true, value: undefined });
      t.match(subscription.latest(), { stale: false, rows: [['2']] });
    });

    t.test(
      'after close(), and after a failure, the last state is stale, and no reader is given it',
      async (t) => {
        for (const how of ['close', 'error'] as const) {
          const { engine, client } = await stage(t, {});
          const subscription = client.subscribe('book');
          const { peer, request } = await subscribed(engine);
          peer.answer(request, SNAPSHOT, 'a\n1\n');
          await until(() => subscription.state === 'live');
          if (how === 'close') {
            await subscription.close();
            t.same(await subscription.next(), { done: true, value: undefined });
          } else {
            peer.answer(request, 0x01, 'no');
            await until(() => subscription.state === 'failed');
            await t.rejects(subscription.next(), { code: 'APPLICATION_ERROR' });
          }
          t.match(subscription.latest(), { stale: true, rows: [['1']] });
        }
      },
    );

    t.test('a stream that ends before the snapshot of its second socket gives no old state', async (t) => {
      const events: ClientEvent[] = [];
      const { engine, client, clock } = await stage(t, { onEvent: (event) => events.push(event) });
      const subscription = client.subscribe('book');
      const first = await subscribed(engine);
      first.peer.answer(first.request, SNAPSHOT, 'a\n1\n');
      await until(() => subscription.state === 'live');
      first.peer.socket.terminate();
      await until(() => events.some((event) => event.name === 'subscription-retry'));
      clock.advance(60_000);
      const second = await subscribed(engine);
      second.peer.answer(second.request, END, '');
      t.same(await subscription.next(), { done: true, value: undefined });
      t.match(subscription.latest(), { stale: true, rows: [['1']] });
    });

    t.test('a failure is told to every reader that waits, and to every later one', async (t) => {
      const { engine, client } = await stage(t, {});
      const subscription = client.subscribe('book');
      const reads = [subscription.next(), subscription.next(), subscription.next()];
      const told = Promise.allSettled(reads);
      const { peer, request } = await subscribed(engine);
      peer.answer(request, SNAPSHOT, 'a\n1\n');
      peer.answer(request, 0x01, 'no');
      t.match(await told, [
        { status: 'fulfilled', value: { value: { rows: [['1']] } } },
        { status: 'rejected', reason: { code: 'APPLICATION_ERROR' } },
        { status: 'rejected', reason: { code: 'APPLICATION_ERROR' } },
      ]);
      await t.rejects(subscription.next(), { code: 'APPLICATION_ERROR' });
      t.same(await subscription.return(), { done: true, value: undefined });
    });

    t.test('close() resolves when the socket is closed, in whatever step it was', async (t) => {
      for (const step of ['authentication', 'snapshot', 'live'] as const) {
        const { engine, client, clock } = await stage(t, {});
        const subscription = client.subscribe('book');
        const peer = await engine.peer();
        const auth = await peer.next();
        if (step !== 'authentication') {
          peer.answer(auth, 0x00, 'authenticated\n');
          const request = await peer.next();
          if (step === 'live') {
            peer.answer(request, SNAPSHOT, 'a\n1\n');
            await until(() => subscription.state === 'live');
          }
        }
        await subscription.close();
        t.match(client.info().sockets, { connecting: 0, authenticating: 0, ready: 0, busy: 0, draining: 0 });
        // Its closing has a deadline, which only the end of the handshake takes back.
        t.equal(clock.pending, 0, step);
        t.equal(await peer.closed, step === 'authentication' ? 4008 : 4000);
      }
    });

    t.test(
      'a loss is seen by whoever is told of it, and nothing of before it is read any more',
      async (t) => {
        for (const how of ['lost', 'impossible delta', 'silence'] as const) {
          const seen: unknown[] = [];
          let late: Promise<unknown> | undefined;
          let subscription: Subscription | undefined;
          const { engine, client, clock } = await stage(t, {
            deadlines: { quietMs: 5_000 },
            onEvent({ name }) {
              if (name !== 'socket-ended' || late !== undefined) return;
              seen.push(subscription?.state, subscription?.latest()?.stale);
              late = subscription?.next();
            },
          });
          subscription = client.subscribe('book');
          const { peer, request } = await subscribed(engine);
          peer.answer(request, SNAPSHOT, 'a\n1\n');
          await until(() => subscription?.state === 'live');
          if (how === 'lost') peer.socket.terminate();
          else if (how === 'silence') clock.advance(5_000);
          else peer.answer(request, DELTA, '-\t7\n');
          await until(() => seen.length > 0);
          t.same(seen, ['stale', true], how);
          await subscription.close();
          t.same(await late, { done: true, value: undefined });
        }
      },
    );

    t.test('what begins anew in an observer of an end is not ended with what it replaces', async (t) => {
      let again: Subscription | undefined;
      let begun = 0;
      let client: EndpointClient | undefined;
      const staged = await stage(t, {
        onEvent({ name }) {
          // The bound is only for the test's own sake: without it a client that ends these too would go on for ever.
          if (name === 'subscription-ended' && begun++ < 3) again = client?.subscribe('book');
        },
      });
      client = staged.client;
      const former = client.subscribe('book');
      await subscribed(staged.engine);
      client.setAuthenticate(() => ({ provider: 'app_sessions', token: 'other' }));
      await t.rejects(former.next(), { code: 'AUTH_CHANGED' });
      const { peer, request } = await subscribed(staged.engine);
      t.match(String(peer.frames[0]?.subarray(21)), 'app_sessions\0other');
      peer.answer(request, SNAPSHOT, 'a\n1\n');
      t.match(await again?.next(), { value: { rows: [['1']] } });
      t.equal(begun, 1);
    });

    for (const how of ['subscription', 'client', 'abort', 'setAuthenticate', 'drain'] as const)
      t.test(`${how} between the credentials and the socket they are for opens none`, async (t) => {
        // Every turn of the microtask queue from the answer of `authenticate` on, until the socket is there.
        let opened = 0;
        for (let turns = 0; opened === 0; turns++) {
          const controller = new AbortController();
          let subscription: Subscription | undefined;
          let client: EndpointClient | undefined;
          const before = { sockets: -1 };
          let factories = 0;
          const staged = await stage(t, {
            webSocket: () => {
              factories++;
              return { protocol: '', binaryType: '', addEventListener() {}, send() {}, close() {} };
            },
            authenticate() {
              const given = Promise.resolve({ provider: 'p', token: 't' });
              let turn: Promise<unknown> = given;
              for (let count = 0; count < turns; count++) turn = turn.then(() => {});
              void turn.then(() => {
                before.sockets = factories;
                if (how === 'subscription') void subscription?.close();
                else if (how === 'client') void client?.close();
                else if (how === 'drain') void client?.drain();
                else if (how === 'abort') controller.abort();
                else client?.setAuthenticate(() => ({ provider: 'p', token: 'other' }));
              });
              return given;
            },
          });
          client = staged.client;
          subscription = client.subscribe('book', [], { signal: controller.signal });
          await subscription.next().catch(() => {});
          await until(() => before.sockets >= 0);
          t.equal(factories, before.sockets, `after ${turns} turns`);
          opened = factories;
        }
      });
  });
}
