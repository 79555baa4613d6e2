import { getEventListeners } from 'node:events';
import {
  type ClientEvent,
  createEndpointClient,
  developmentProfile,
  documentedProfile,
  type EndpointClient,
  type EndpointClientOptions,
  type EngineProfile,
  type Subscription,
} from '@nn-runtime/nyxdb';
import t, { type Test } from 'tap';
import { type Implementation, implementations } from './clients.js';
import {
  DELTA,
  END,
  type Engine,
  hex,
  type Peer,
  payloadOf,
  REVOCATION,
  response,
  SNAPSHOT,
  startEngine,
  subscribed,
} from './engine.js';
import { ManualClock, until } from './time.js';

interface Stage {
  readonly engine: Engine;
  readonly client: EndpointClient;
  readonly clock: ManualClock;
  readonly events: ClientEvent[];
}

async function stage(
  t: Test,
  connect: Implementation['connect'],
  options: Partial<EndpointClientOptions> = {},
): Promise<Stage> {
  const engine = await startEngine(t);
  const clock = new ManualClock();
  const events: ClientEvent[] = [];
  const client = connect(t, engine, {
    clock,
    profile: developmentProfile,
    random: { fill: (bytes) => crypto.getRandomValues(bytes), fraction: () => 0.5 },
    onEvent: (event) => events.push(event),
    ...options,
  });
  return { engine, client, clock, events };
}

const rowsOf = (subscription: Subscription) => subscription.latest()?.rows;
const retries = (events: readonly ClientEvent[]) =>
  events.filter((event) => event.name === 'subscription-retry');

/** Lets the back-off after the nth loss pass. */
async function comeBack({ clock, events }: Stage, count: number): Promise<void> {
  await until(() => retries(events).length === count);
  const event = retries(events)[count - 1];
  if (event?.name === 'subscription-retry') clock.advance(event.delayMs);
}

/** A live subscription over a socket that does what the test says, and when: also several things in one turn. */
async function handled() {
  const clock = new ManualClock();
  const events: ClientEvent[] = [];
  const listeners = new Map<string, (event: object) => void>();
  const sent: Uint8Array[] = [];
  const client = createEndpointClient({
    url: 'ws://127.0.0.1:9/',
    authenticate: () => ({ provider: 'p', token: 't' }),
    profile: developmentProfile,
    clock,
    onEvent: (event) => events.push(event),
    // Stands in for a library that delivers what it had received also after close().
    webSocket: () => ({
      protocol: '',
      binaryType: 'blob',
      addEventListener: (type, listener) => listeners.set(type, listener),
      send: (bytes) => void sent.push(bytes),
      close: () => {},
    }),
  });
  const answer = (status: number, body: string): void => {
    const bytes = response(sent.at(-1)?.subarray(1, 17) ?? Buffer.alloc(0), status, body);
    listeners.get('message')?.({ data: new Uint8Array(bytes).buffer });
  };
  const subscription = client.subscribe('book');
  await until(() => listeners.has('close'));
  listeners.get('open')?.({});
  await until(() => sent.length === 1);
  answer(0x00, 'authenticated\n');
  await until(() => sent.length === 2);
  answer(SNAPSHOT, 'a\n1\n');
  return { answer, client, clock, events, listeners, subscription };
}

t.test('a frame that was on its way behind an impossible one is not applied (R10, 23)', async (t) => {
  const { answer, client, events, listeners, subscription } = await handled();
  answer(DELTA, '-\t7\n');
  answer(DELTA, '~\t0\tlate\n');
  await until(() => retries(events).length === 1);
  t.equal(subscription.state, 'stale');
  t.same(rowsOf(subscription), [['1']]);
  listeners.get('close')?.({});
  await client.close();
});

t.test(
  'what fails before the end of its stream is heard leaves a stale state all the same (N7)',
  async (t) => {
    const { answer, client, listeners, subscription } = await handled();
    answer(END, '');
    client.setAuthenticate(() => ({ provider: 'p', token: 'other' }));
    await t.rejects(subscription.next(), { code: 'AUTH_CHANGED' });
    t.match(subscription.latest(), { stale: true, rows: [['1']] });
    listeners.get('close')?.({});
    await client.close();
  },
);

for (const { name, connect } of implementations)
  t.test(`subscribe over ${name}`, async (t: Test) => {
    t.test('has a socket of its own, authenticated, with one operation on it (R46, R16, R21)', async (t) => {
      const set = await stage(t, connect);
      const subscription = set.client.subscribe('book', ['BTC-USD']);
      t.equal(subscription.state, 'connecting');
      t.equal(subscription.latest(), undefined);
      const { peer, request } = await subscribed(set.engine);
      t.same(request.subarray(0, 1), hex('0c'));
      t.same(request.subarray(17), hex('0000000c 626f6f6b 00 4254432d555344'));
      const call = set.client.execute('other');
      const other = await set.engine.ready();
      other.answer(await other.next(), 0x00, 'a\n');
      await call;
      t.same(peer.ops, [0x09, 0x0c]);
      const second = set.client.subscribe('book', ['ETH-USD']);
      t.equal(payloadOf((await subscribed(set.engine)).request), 'book\0ETH-USD');
      await second.close();
      await subscription.close();
    });

    t.test('gives the snapshot, then the whole replica after each delta (R48, R49, N7, N10)', async (t) => {
      const set = await stage(t, connect);
      const subscription = set.client.subscribe('book');
      const { peer, request } = await subscribed(set.engine);
      peer.answer(request, SNAPSHOT, 'id\tpx\n1\t10\n2\t20\n');
      const first = (await subscription.next()).value;
      t.match(first, { kind: 'snapshot', columns: ['id', 'px'], generation: 1, stale: false });
      t.equal(subscription.state, 'live');
      peer.answer(request, DELTA, '+\t0\t0\t5\n~\t1\t1\t11\n-\t2\n+\t2\t9\t\n');
      const second = (await subscription.next()).value;
      t.match(second, { kind: 'delta', generation: 1 });
      t.same(second?.rows, [
        ['0', '5'],
        ['1', '11'],
        ['9', ''],
      ]);
      t.same(
        first?.rows,
        [
          ['1', '10'],
          ['2', '20'],
        ],
        'first read after the change, it is what it was',
      );
      t.equal(second?.rows, second?.rows, 'copied once');
      await subscription.close();
    });

    t.test('for await and break; break closes the socket (N7, R45)', async (t) => {
      const set = await stage(t, connect);
      const subscription = set.client.subscribe('book');
      const serve = subscribed(set.engine).then(({ peer, request }) => {
        peer.answer(request, SNAPSHOT, 'a\n1\n');
        return peer;
      });
      for await (const state of subscription) {
        t.same(state.rows, [['1']]);
        break;
      }
      const peer = await serve;
      t.equal(await peer.closed, 4000);
      t.equal(subscription.state, 'ended');
      t.same(peer.ops, [0x09, 0x0c], 'no cancel for a subscription');
      t.same(await subscription.next(), { done: true, value: undefined });
      t.equal(set.engine.peers.length, 1);
    });

    t.test('a slow reader gets the newest state, and hears of a snapshot it skipped (N7)', async (t) => {
      const set = await stage(t, connect);
      const subscription = set.client.subscribe('book');
      const { peer, request } = await subscribed(set.engine);
      peer.answer(request, SNAPSHOT, 'a\n1\n');
      for (let count = 2; count <= 500; count++) peer.answer(request, DELTA, `~\t0\t${count}\n`);
      await until(() => rowsOf(subscription)?.[0]?.[0] === '500');
      t.match((await subscription.next()).value, { kind: 'snapshot', rows: [['500']] });
      peer.answer(request, DELTA, '~\t0\tx\n');
      t.match((await subscription.next()).value, { kind: 'delta', rows: [['x']] });
      await subscription.close();
    });

    t.test('readers at once are served in order, and all are released at the end (C-87)', async (t) => {
      const set = await stage(t, connect);
      const subscription = set.client.subscribe('book');
      const reads = [subscription.next(), subscription.next(), subscription.next(), subscription.next()];
      const { peer, request } = await subscribed(set.engine);
      peer.answer(request, SNAPSHOT, 'a\n1\n');
      peer.answer(request, DELTA, '~\t0\t2\n');
      t.same((await reads[0])?.value?.rows, [['1']]);
      t.same((await reads[1])?.value?.rows, [['2']]);
      t.same(await subscription.return(), { done: true, value: undefined });
      t.same(await Promise.all(reads.slice(2)), [
        { done: true, value: undefined },
        { done: true, value: undefined },
      ]);
    });

    t.test('a second snapshot replaces, other columns included (R51, C-53)', async (t) => {
      const set = await stage(t, connect);
      const subscription = set.client.subscribe('book');
      const { peer, request } = await subscribed(set.engine);
      peer.answer(request, SNAPSHOT, 'a\n1\n2\n');
      await subscription.next();
      peer.answer(request, SNAPSHOT, 'b\tc\n3\t4\n');
      t.match((await subscription.next()).value, {
        kind: 'snapshot',
        columns: ['b', 'c'],
        rows: [['3', '4']],
        generation: 2,
      });
      await subscription.close();
    });

    t.test(
      'a lost connection is opened again: stale until its snapshot, nothing is given meanwhile (R51, R57, R68, C-92)',
      async (t) => {
        for (const lose of [
          (peer: Peer) => peer.socket.terminate(),
          (peer: Peer) => peer.socket.close(1000),
        ]) {
          const set = await stage(t, connect);
          const subscription = set.client.subscribe('book');
          const { peer, request } = await subscribed(set.engine);
          peer.answer(request, SNAPSHOT, 'a\n1\n');
          await subscription.next();
          let given = 0;
          const next = subscription.next().then((result) => {
            given++;
            return result;
          });
          lose(peer);
          await until(() => subscription.state === 'stale');
          t.match(subscription.latest(), { stale: true, rows: [['1']], generation: 1 });
          await comeBack(set, 1);
          const again = await subscribed(set.engine);
          t.same(again.peer.ops, [0x09, 0x0c]);
          t.notSame(again.request.subarray(1, 17), request.subarray(1, 17), 'another id (R13)');
          t.equal(given, 0);
          again.peer.answer(again.request, SNAPSHOT, 'a\n7\n');
          t.match((await next).value, { kind: 'snapshot', rows: [['7']], generation: 2, stale: false });
          t.equal(subscription.state, 'live');
          await subscription.close();
        }
      },
    );

    t.test('a state not read before the loss is not given after it', async (t) => {
      const set = await stage(t, connect);
      const subscription = set.client.subscribe('book');
      const { peer, request } = await subscribed(set.engine);
      peer.answer(request, SNAPSHOT, 'a\n1\n');
      await until(() => subscription.state === 'live');
      peer.socket.terminate();
      await until(() => subscription.state === 'stale');
      const next = subscription.next();
      await comeBack(set, 1);
      const again = await subscribed(set.engine);
      again.peer.answer(again.request, SNAPSHOT, 'a\n2\n');
      t.same((await next).value?.rows, [['2']]);
      await subscription.close();
    });

    t.test(
      'an impossible delta changes nothing, closes and rebuilds (R49, R50, C-49, C-51, C-52)',
      async (t) => {
        for (const delta of [
          '~\t0\tchanged\n+\t3\tx\n',
          '~\t2\tx\n',
          '-\t2\n',
          '~\t-1\tx\n',
          '-\t4294967295\n',
          '-\t1e3\n',
          '-\t 1\n',
          '-\t01\n',
          '-\tNaN\n',
          '-\t0\n-\t0\n-\t0\n',
          '~\t0\tx\ty\n',
          '+\t0\tx\ty\n',
        ]) {
          const set = await stage(t, connect);
          const subscription = set.client.subscribe('book');
          const { peer, request } = await subscribed(set.engine);
          peer.answer(request, SNAPSHOT, 'a\n1\n2\n');
          await subscription.next();
          peer.answer(request, DELTA, delta);
          t.equal(await peer.closed, 4002, JSON.stringify(delta));
          t.same(rowsOf(subscription), [['1'], ['2']], 'nothing of the frame was applied');
          t.equal(subscription.state, 'stale');
          await comeBack(set, 1);
          const again = await subscribed(set.engine);
          again.peer.answer(again.request, SNAPSHOT, 'a\n3\n');
          t.same((await subscription.next()).value?.rows, [['3']]);
          await subscription.close();
        }
      },
    );

    t.test('deltas before the snapshot of their own socket are impossible too (C-51, R51)', async (t) => {
      const set = await stage(t, connect);
      const subscription = set.client.subscribe('book');
      const { peer, request } = await subscribed(set.engine);
      peer.answer(request, DELTA, '+\t0\t1\n');
      t.equal(await peer.closed, 4002);
      await comeBack(set, 1);
      const second = await subscribed(set.engine);
      second.peer.answer(second.request, SNAPSHOT, 'a\n1\n');
      await subscription.next();
      second.peer.socket.terminate();
      await comeBack(set, 2);
      const third = await subscribed(set.engine);
      third.peer.answer(third.request, DELTA, '~\t0\t9\n');
      t.equal(await third.peer.closed, 4002, 'the rows of the former socket are no base');
      t.same(rowsOf(subscription), [['1']]);
      await subscription.close();
    });

    t.test('a stream that has to be rebuilt again and again is given up (R50, C-55)', async (t) => {
      const set = await stage(t, connect);
      const subscription = set.client.subscribe('book');
      for (let count = 1; count <= 6; count++) {
        const { peer, request } = await subscribed(set.engine);
        peer.answer(request, SNAPSHOT, 'a\n1\n');
        peer.answer(request, DELTA, '-\t1\n');
        await peer.closed;
        if (count < 6) await comeBack(set, count);
      }
      await until(() => subscription.state === 'failed');
      await t.rejects(subscription.next(), { code: 'REBUILD_LIMIT', retryable: false });
      await t.rejects(subscription.next(), { code: 'REBUILD_LIMIT' }, 'a late reader hears of it too');
      t.equal(set.engine.peers.length, 6);
      t.same(
        retries(set.events).map((event) => 'delayMs' in event && event.delayMs),
        [125, 250, 500, 1000, 2000],
      );
    });

    t.test('a violation of the stream is final (R52, R55, C-24, C-30, C-54, C-56)', async (t) => {
      for (const [status, body, reason] of [
        [0x00, 'a\n', 'status-not-for-op'],
        [0xd2, 'a\n', 'unknown-status'],
        [0x02, 'a\n', 'unknown-status'],
        [SNAPSHOT, '', 'tsv-no-header'],
        [SNAPSHOT, 'a\n1\t2\n', 'tsv-columns'],
        [DELTA, '', 'delta-grammar'],
        [DELTA, '?\t0\n', 'delta-grammar'],
        [DELTA, '-\t0', 'delta-grammar'],
        [DELTA, '-\t0\tx\n', 'delta-grammar'],
        [DELTA, '+\t0\n', 'delta-grammar'],
        [DELTA, '~\n', 'delta-grammar'],
        [DELTA, '\n', 'delta-grammar'],
        [DELTA, 'constructor\t0\tx\n', 'delta-grammar'],
        [DELTA, hex('ff'), 'delta-grammar'],
        [DELTA, hex('2b 09 30 09 ff 0a'), 'utf8'],
      ] as const) {
        const set = await stage(t, connect);
        const subscription = set.client.subscribe('book');
        const { peer, request } = await subscribed(set.engine);
        peer.answer(request, SNAPSHOT, 'a\n1\n');
        await subscription.next();
        peer.answer(request, status, body);
        await t.rejects(subscription.next(), { code: 'PROTOCOL_ERROR', reason }, reason);
        t.equal(await peer.closed, 4002);
        t.equal(subscription.state, 'failed');
        t.same(rowsOf(subscription), [['1']]);
        t.equal(retries(set.events).length, 0);
      }
    });

    t.test('more rows than the limit are refused, by snapshot or by growth (C-94)', async (t) => {
      for (const [snapshot, delta] of [
        ['a\n1\n2\n3\n', undefined],
        ['a\n1\n2\n', '+\t0\tx\n'],
      ] as const) {
        const set = await stage(t, connect, { limits: { maxRows: 2 } });
        const subscription = set.client.subscribe('book');
        const { peer, request } = await subscribed(set.engine);
        peer.answer(request, SNAPSHOT, snapshot);
        if (delta !== undefined) peer.answer(request, DELTA, delta);
        await peer.closed;
        await until(() => subscription.state === 'failed');
        await t.rejects(subscription.next(), { code: 'PROTOCOL_ERROR', reason: 'over-cap' });
      }
    });

    t.test(
      "the stream's own end ends the iteration after its last state; nothing later counts (N7, C-54)",
      async (t) => {
        const set = await stage(t, connect);
        const subscription = set.client.subscribe('book');
        const { peer, request } = await subscribed(set.engine);
        peer.answer(request, SNAPSHOT, 'a\n1\n');
        peer.answer(request, END, '');
        peer.answer(request, DELTA, '~\t0\tlate\n');
        await peer.closed;
        await until(() => subscription.state === 'ended');
        const seen = [];
        for await (const state of subscription) seen.push(state.rows);
        t.same(seen, [[['1']]]);
        t.equal(set.engine.peers.length, 1);
      },
    );

    t.test('a one-shot endpoint is an invalid parameter, and not asked again (R47)', async (t) => {
      const set = await stage(t, connect);
      const subscription = set.client.subscribe('my_fills');
      const { peer, request } = await subscribed(set.engine);
      peer.answer(request, 0x01, 'invalid parameter');
      await t.rejects(subscription.next(), {
        code: 'APPLICATION_ERROR',
        reason: 'invalid-parameter',
        outcome: 'not-run',
      });
      t.equal(subscription.state, 'failed');
      await peer.closed;
      t.equal(retries(set.events).length, 0);
    });

    t.test('an error of the profile has its name', async (t) => {
      const set = await stage(t, connect);
      const subscription = set.client.subscribe('book');
      const { peer, request } = await subscribed(set.engine);
      peer.answer(request, 0x01, 'dev: not authenticated');
      await t.rejects(subscription.next(), {
        code: 'APPLICATION_ERROR',
        reason: 'not-authenticated',
        outcome: 'not-run',
      });
    });

    t.test('a busy engine is asked again, with back-off (R61, N7)', async (t) => {
      const set = await stage(t, connect);
      const subscription = set.client.subscribe('book');
      const { peer, request } = await subscribed(set.engine);
      peer.answer(request, 0x01, 'server busy: query admission timed out');
      await peer.closed;
      await comeBack(set, 1);
      const again = await subscribed(set.engine);
      again.peer.answer(again.request, SNAPSHOT, 'a\n');
      t.same((await subscription.next()).value?.rows, []);
      await subscription.close();
    });

    t.test(
      'revocation ends it, on either id; the same token subscribes to nothing (R63, R64, R65, C-33, C-34)',
      async (t) => {
        for (const onOwnId of [false, true]) {
          let token = 'old';
          const set = await stage(t, connect, { authenticate: () => ({ provider: 'p', token }) });
          const subscription = set.client.subscribe('book');
          const { peer, request } = await subscribed(set.engine);
          peer.answer(request, SNAPSHOT, 'a\n1\n');
          await subscription.next();
          peer.send(onOwnId ? response(request.subarray(1, 17), 0x01, 'auth revoked') : REVOCATION);
          await t.rejects(subscription.next(), { code: 'AUTH_REVOKED', retryable: false });
          t.equal(await peer.closed, 4401);
          t.match(subscription.latest(), { stale: true });
          await t.rejects(set.client.subscribe('book').next(), { code: 'AUTH_REVOKED', outcome: 'not-sent' });
          t.equal(set.engine.peers.length, 1);
          token = 'new';
          const fresh = set.client.subscribe('book');
          const again = await subscribed(set.engine);
          again.peer.answer(again.request, SNAPSHOT, 'a\n2\n');
          t.match((await fresh.next()).value, { generation: 1, rows: [['2']] });
          await fresh.close();
        }
      },
    );

    t.test(
      'a failed authentication is final; credentials that cannot be had are asked for again',
      async (t) => {
        const set = await stage(t, connect);
        const subscription = set.client.subscribe('book');
        const peer = await set.engine.peer();
        peer.answer(await peer.next(), 0x01, 'auth failed');
        await t.rejects(subscription.next(), { code: 'AUTH_FAILED' });

        let asked = 0;
        const other = await stage(t, connect, {
          authenticate: async () => {
            if (++asked === 1) throw new Error('not now');
            return { provider: 'p', token: 't' };
          },
        });
        const patient = other.client.subscribe('book');
        await comeBack(other, 1);
        const { peer: next, request } = await subscribed(other.engine);
        next.answer(request, SNAPSHOT, 'a\n');
        t.equal((await patient.next()).value?.generation, 1);
        await patient.close();

        const wrong = await stage(t, connect, { authenticate: () => ({ provider: '', token: 't' }) });
        await t.rejects(wrong.client.subscribe('book').next(), TypeError);
      },
    );

    t.test('a change of principal ends it; no live rebind (R59, N5)', async (t) => {
      const set = await stage(t, connect);
      const subscription = set.client.subscribe('book');
      const { peer, request } = await subscribed(set.engine);
      peer.answer(request, SNAPSHOT, 'a\n1\n');
      await subscription.next();
      set.client.setAuthenticate(() => ({ provider: 'p', token: 'other' }));
      await t.rejects(subscription.next(), { code: 'AUTH_CHANGED' });
      await peer.closed;
    });

    t.test(
      'no snapshot in time, and silence where that was forbidden, are losses (N1, R67, 36)',
      async (t) => {
        const set = await stage(t, connect, { deadlines: { quietMs: 20_000 } });
        const subscription = set.client.subscribe('book');
        const first = await subscribed(set.engine);
        set.clock.advance(15_000);
        t.equal(await first.peer.closed, 4008);
        await comeBack(set, 1);
        t.match(retries(set.events)[0], { code: 'DEADLINE_EXCEEDED' });
        const second = await subscribed(set.engine);
        second.peer.answer(second.request, SNAPSHOT, 'a\n1\n');
        await subscription.next();
        set.clock.advance(19_999);
        second.peer.answer(second.request, DELTA, '~\t0\t2\n');
        await subscription.next();
        set.clock.advance(19_999);
        t.equal(subscription.state, 'live', 'every frame counts');
        set.clock.advance(1);
        t.equal(await second.peer.closed, 4008);
        t.equal(subscription.state, 'stale');
        await subscription.close();
      },
    );

    t.test(
      'an engine that closes at once is asked ever more rarely, and given up in time (C-91, N2)',
      async (t) => {
        const set = await stage(t, connect, { backoff: { totalMs: 1_800 } });
        const subscription = set.client.subscribe('book');
        for (let count = 1; count <= 4; count++) {
          const { peer } = await subscribed(set.engine);
          peer.socket.close(1000);
          if (count < 4) await comeBack(set, count);
        }
        await t.rejects(subscription.next(), { code: 'CONNECTION_LOST' });
        t.equal(subscription.state, 'failed');
        t.same(
          retries(set.events).map((event) => 'delayMs' in event && event.delayMs),
          [125, 250, 500],
        );
        set.clock.advance(60_000);
        t.equal(set.engine.peers.length, 4);
      },
    );

    t.test('back-off starts afresh only after an authenticated socket has lived (C-91, N2)', async (t) => {
      const set = await stage(t, connect);
      const subscription = set.client.subscribe('book');
      for (const [count, livedMs] of [
        [1, 9_999],
        [2, 10_000],
        [3, 0],
      ] as const) {
        const { peer, request } = await subscribed(set.engine);
        peer.answer(request, SNAPSHOT, 'a\n');
        await subscription.next();
        set.clock.advance(livedMs);
        peer.socket.terminate();
        await comeBack(set, count);
      }
      t.same(
        retries(set.events).map((event) => 'delayMs' in event && event.delayMs),
        [125, 125, 250],
      );
      await subscription.close();
    });

    t.test('after an hour asleep it comes back once, and no deadline ends it (C-90)', async (t) => {
      const set = await stage(t, connect);
      const subscription = set.client.subscribe('book');
      const { peer, request } = await subscribed(set.engine);
      peer.answer(request, SNAPSHOT, 'a\n1\n');
      await subscription.next();
      set.clock.nowMs += 3_600_000;
      peer.socket.terminate();
      await comeBack(set, 1);
      const again = await subscribed(set.engine);
      again.peer.answer(again.request, SNAPSHOT, 'a\n2\n');
      t.same((await subscription.next()).value?.rows, [['2']]);
      set.clock.nowMs += 3_600_000;
      again.peer.answer(again.request, DELTA, '~\t0\t3\n');
      t.same((await subscription.next()).value?.rows, [['3']], 'an hour on a live socket changes nothing');
      t.equal(set.engine.peers.length, 2);
      await subscription.close();
    });

    t.test('a profile reads each frame as it is, typed or text, in one stream (R53)', async (t) => {
      const { subscription: text } = developmentProfile;
      if (text === undefined) throw new Error('the profile has no subscriptions');
      // Ours: one byte of marker, one of a number. The contract does not publish the typed layout.
      const isTyped = (payload: Uint8Array): boolean => payload[0] === 0xfe;
      const profile: EngineProfile = {
        ...developmentProfile,
        subscription: {
          ...text,
          readSnapshot: (payload, limits) =>
            isTyped(payload)
              ? { columns: ['a'], rows: [[String(payload[1])]] }
              : text.readSnapshot(payload, limits),
          readDeltas: (payload) =>
            isTyped(payload) ? [{ op: '+', index: 0, row: [String(payload[1])] }] : text.readDeltas(payload),
        },
      };
      const set = await stage(t, connect, { profile });
      const subscription = set.client.subscribe('book');
      const { peer, request } = await subscribed(set.engine);
      for (const [status, body, rows] of [
        [SNAPSHOT, hex('fe 07'), [['7']]],
        [DELTA, '~\t0\t8\n', [['8']]],
        [DELTA, hex('fe 09'), [['9'], ['8']]],
        [SNAPSHOT, 'a\n1\n', [['1']]],
      ] as const) {
        peer.answer(request, status, body);
        t.same((await subscription.next()).value?.rows, rows);
      }
      await subscription.close();
    });

    t.test('an abort ends it with its reason, also while it waits to come back (N3)', async (t) => {
      const set = await stage(t, connect);
      const controller = new AbortController();
      const subscription = set.client.subscribe('book', [], { signal: controller.signal });
      const { peer, request } = await subscribed(set.engine);
      peer.answer(request, SNAPSHOT, 'a\n1\n');
      await subscription.next();
      peer.socket.terminate();
      await until(() => retries(set.events).length === 1);
      const reason = new Error('left');
      controller.abort(reason);
      await t.rejects(subscription.next(), { code: 'CANCELLED', cause: reason });
      t.equal(subscription.state, 'failed');
      t.equal(getEventListeners(controller.signal, 'abort').length, 0);
      set.clock.advance(60_000);
      t.equal(set.engine.peers.length, 1, 'nothing comes back after it');
      t.throws(() => set.client.subscribe('book', [], { signal: controller.signal }), { code: 'CANCELLED' });
    });

    t.test(
      'client.close() and drain() end it without an error; nothing is left behind (N7, N8, R58)',
      async (t) => {
        for (const how of ['close', 'drain'] as const) {
          const set = await stage(t, connect);
          const subscription = set.client.subscribe('book');
          const { peer, request } = await subscribed(set.engine);
          peer.answer(request, SNAPSHOT, 'a\n1\n');
          await subscription.next();
          const waiting = subscription.next();
          await set.client[how]();
          t.same(await waiting, { done: true, value: undefined });
          t.equal(subscription.state, 'ended');
          t.equal(await peer.closed, 4000);
          await until(() => set.clock.pending === 0);
          t.throws(() => set.client.subscribe('book'), { code: 'CLOSED' });
        }
      },
    );

    t.test('drain() ends it while a call still has time to finish (N8)', async (t) => {
      const set = await stage(t, connect);
      const subscription = set.client.subscribe('book');
      const { peer, request } = await subscribed(set.engine);
      peer.answer(request, SNAPSHOT, 'a\n1\n');
      await subscription.next();
      const call = set.client.execute('other');
      const other = await set.engine.ready();
      const asked = await other.next();
      const drained = set.client.drain();
      t.equal(await peer.closed, 4000);
      t.same(await subscription.next(), { done: true, value: undefined });
      other.answer(asked, 0x00, 'b\n2\n');
      t.same((await call).rows, [['2']]);
      await drained;
    });

    t.test(
      'the documented profile knows no subscriptions, and says so before a socket opens (G1, N7)',
      async (t) => {
        const set = await stage(t, connect, { profile: documentedProfile });
        t.throws(() => set.client.subscribe('book'), {
          code: 'UNSUPPORTED_BY_PROFILE',
          outcome: 'not-sent',
          profile: { provenance: 'documented' },
        });
        t.throws(() => set.client.subscribe('bo\0ok'), TypeError);
        t.throws(() => set.client.subscribe('book', [null] as never), TypeError);
        t.equal(set.engine.peers.length, 0);
      },
    );

    t.test(
      'await using closes it',
      { skip: Symbol.asyncDispose === undefined && 'this Node has no Symbol.asyncDispose' },
      async (t) => {
        const set = await stage(t, connect);
        let peer: Peer;
        {
          await using subscription = set.client.subscribe('book');
          const opened = await subscribed(set.engine);
          peer = opened.peer;
          peer.answer(opened.request, SNAPSHOT, 'a\n1\n');
          t.same((await subscription.next()).value?.rows, [['1']]);
        }
        t.equal(await peer.closed, 4000);
      },
    );
  });
