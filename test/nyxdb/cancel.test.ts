import { getEventListeners } from 'node:events';
import type { ClientEvent, EndpointClient } from '@nn-runtime/nyxdb';
import t, { type Test } from 'tap';
import { type Implementation, implementations } from './clients.js';
import { type Engine, hex, type Peer, payloadOf, startEngine } from './engine.js';
import { ManualClock, until } from './time.js';

interface Stage {
  readonly engine: Engine;
  readonly client: EndpointClient;
  readonly clock: ManualClock;
  readonly events: ClientEvent[];
}

async function stage(t: Test, connect: Implementation['connect'], options = {}): Promise<Stage> {
  const engine = await startEngine(t);
  const clock = new ManualClock();
  const events: ClientEvent[] = [];
  const client = connect(t, engine, { clock, onEvent: (event) => events.push(event), ...options });
  return { engine, client, clock, events };
}

/** A call that the engine has, and its caller has given up. */
async function givenUp({ engine, client }: Stage): Promise<{ target: Peer; request: Buffer; reason: Error }> {
  const controller = new AbortController();
  const reason = new Error('the user left');
  const call = client.execute('slow', [], { signal: controller.signal });
  const target = await engine.ready();
  const request = await target.next();
  controller.abort(reason);
  await call.then(
    () => Promise.reject(new Error('must reject')),
    () => {},
  );
  return { target, request, reason };
}

const cancelResult = (events: readonly ClientEvent[]): string | undefined =>
  events.find((event) => event.name === 'cancel')?.result;

for (const { name, connect } of implementations)
  t.test(`cancel over ${name}`, async (t: Test) => {
    t.test('an abort releases the caller at once, with its reason (N3, R11)', async (t) => {
      const { engine, client } = await stage(t, connect);
      const controller = new AbortController();
      const call = client.execute('slow', [], { signal: controller.signal });
      const peer = await engine.ready();
      await peer.next();
      const reason = new Error('the user left');
      controller.abort(reason);
      await t.rejects(call, { code: 'CANCELLED', outcome: 'unknown', cause: reason, retryable: false });
      t.match(client.info().sockets, { draining: 1, busy: 0 }, 'the registration stays');
      t.equal(getEventListeners(controller.signal, 'abort').length, 0);
    });

    t.test('the engine is told on another, itself authenticated socket (R38, R39, R13)', async (t) => {
      const set = await stage(t, connect);
      const { target, request } = await givenUp(set);
      const control = await set.engine.ready();
      const cancel = await control.next();
      t.same(cancel.subarray(0, 1), hex('0a'));
      t.same(cancel.subarray(17), Buffer.concat([hex('00000010'), request.subarray(1, 17)]));
      t.notSame(cancel.subarray(1, 17), request.subarray(1, 17), 'an id of its own');
      t.same(control.ops, [0x09, 0x0a]);
      t.same(target.ops, [0x09, 0x0b], 'never behind the target');
      control.answer(cancel, 0x00, 'query_id\tcancel_requested\n42\t1\n');
      t.equal(await control.closed, 4000);
      await until(() => cancelResult(set.events) === 'requested');
    });

    t.test(
      'the acknowledgement settles nothing: the registration ends with the terminal answer (R41, R42, C-25)',
      async (t) => {
        const set = await stage(t, connect);
        const { target, request } = await givenUp(set);
        const control = await set.engine.ready();
        control.answer(await control.next(), 0x00, 'query_id\tcancel_requested\n42\t1\n');
        await until(() => cancelResult(set.events) === 'requested');
        t.match(set.client.info().sockets, { draining: 1 });
        target.answer(request, 0x01, 'query cancelled');
        t.equal(await target.closed, 4000);
        t.match(set.client.info().sockets, { draining: 0 });
        await until(() => set.clock.pending === 0);
      },
    );

    t.test(
      'without a terminal answer after the acknowledgement the socket is closed in time (R42, C-29, C-27)',
      async (t) => {
        for (const [row, result] of [
          ['42\t1', 'requested'],
          ['0\t0', 'not-found'],
        ] as const) {
          const set = await stage(t, connect);
          const { target } = await givenUp(set);
          const control = await set.engine.ready();
          control.answer(await control.next(), 0x00, `query_id\tcancel_requested\n${row}\n`);
          await until(() => cancelResult(set.events) === result);
          set.clock.advance(4_999);
          t.match(set.client.info().sockets, { draining: 1 });
          set.clock.advance(1);
          t.match(set.client.info().sockets, { draining: 0 });
          t.equal(await target.closed, 4008);
        }
      },
    );

    t.test(
      'an acknowledgement that is not one ends the control socket, not the target (R40, C-26)',
      async (t) => {
        for (const [status, body] of [
          [0x00, 'query_id\tcancel_requested\n42\t2\n'],
          [0x00, 'query_id\tcancel_requested\n42\t1\n43\t1\n'],
          [0x00, 'query_id\tcancelled\n42\t1\n'],
          [0x00, 'query_id\tcancel_requested\nx\t1\n'],
          [0x00, 'query_id\tcancel_requested\n0\t1\n'],
          [0x00, 'query_id\tcancel_requested\n42\t0\n'],
          [0x00, 'query_id\tcancel_requested\n'],
          [0x00, ''],
          [0x01, 'no'],
          [0x02, 'query_id\tcancel_requested\n42\t1\n'],
        ] as const) {
          const set = await stage(t, connect);
          const { target, request } = await givenUp(set);
          const control = await set.engine.ready();
          control.answer(await control.next(), status, body);
          t.equal(await control.closed, 4002, JSON.stringify(body));
          await until(() => cancelResult(set.events) === 'failed');
          t.match(set.client.info().sockets, { draining: 1 });
          target.answer(request, 0x00, 'a\n');
          t.equal(await target.closed, 4000);
        }
      },
    );

    t.test('when the engine cannot be told, the target is closed in time all the same (R42)', async (t) => {
      const set = await stage(t, connect);
      const { target } = await givenUp(set);
      const control = await set.engine.peer();
      control.answer(await control.next(), 0x01, 'auth failed');
      await until(() => cancelResult(set.events) === 'failed');
      set.clock.advance(5_000);
      t.equal(await target.closed, 4008);
    });

    t.test('a cancel that is not acknowledged in time is given up (R11)', async (t) => {
      const set = await stage(t, connect);
      const { target } = await givenUp(set);
      const control = await set.engine.ready();
      await control.next();
      set.clock.advance(5_000);
      await until(() => cancelResult(set.events) === 'failed');
      set.clock.advance(5_000);
      t.equal(await target.closed, 4008);
      await control.closed;
    });

    t.test('a terminal answer before the engine was told makes telling it pointless', async (t) => {
      const set = await stage(t, connect);
      const { target, request } = await givenUp(set);
      target.answer(request, 0x00, 'a\n');
      t.equal(await target.closed, 4000);
      await until(
        () => set.client.info().sockets.connecting + set.client.info().sockets.authenticating === 0,
      );
      t.equal(cancelResult(set.events), undefined);
      for (const peer of set.engine.peers) t.notOk(peer.ops.includes(0x0a));
    });

    t.test(
      'a passed response deadline cancels too, and its socket takes nothing new (R43, R67)',
      async (t) => {
        const set = await stage(t, connect, { limits: { poolSize: 1 } });
        const call = set.client.execute('slow');
        call.catch(() => {});
        const target = await set.engine.ready();
        const request = await target.next();
        set.clock.advance(30_000);
        await t.rejects(call, {
          code: 'DEADLINE_EXCEEDED',
          phase: 'response',
          outcome: 'unknown',
          retryable: false,
        });
        const control = await set.engine.ready();
        const cancel = await control.next();
        t.same(cancel.subarray(21), request.subarray(1, 17));
        const next = set.client.execute('next');
        const fresh = await set.engine.ready();
        fresh.answer(await fresh.next(), 0x00, 'a\n');
        t.same((await next).columns, ['a']);
        t.same(target.ops, [0x09, 0x0b]);
      },
    );

    t.test('a passed total deadline ends the call wherever it stands (R67)', async (t) => {
      const set = await stage(t, connect, { limits: { poolSize: 1 } });
      const first = set.client.execute('first', [], { timeoutMs: 1_000 });
      const waiting = set.client.execute('waiting', [], { timeoutMs: 500 });
      first.catch(() => {});
      waiting.catch(() => {});
      const target = await set.engine.ready();
      await target.next();
      set.clock.advance(500);
      await t.rejects(waiting, {
        code: 'DEADLINE_EXCEEDED',
        phase: 'total',
        outcome: 'not-sent',
        retryable: true,
      });
      set.clock.advance(500);
      await t.rejects(first, { code: 'DEADLINE_EXCEEDED', phase: 'total', outcome: 'unknown' });
      const control = await set.engine.ready();
      t.equal((await control.next()).readUInt8(0), 0x0a);
    });

    t.test('an abort before anything was sent opens, or leaves, nothing (N3, C-84)', async (t) => {
      const set = await stage(t, connect);
      const reason = new Error('already');
      await t.rejects(set.client.execute('a', [], { signal: AbortSignal.abort(reason) }), {
        code: 'CANCELLED',
        outcome: 'not-sent',
        cause: reason,
      });
      t.equal(set.engine.peers.length, 0);
      const controller = new AbortController();
      const call = set.client.execute('a', [], { signal: controller.signal });
      const peer = await set.engine.peer();
      await peer.next();
      controller.abort();
      await t.rejects(call, { code: 'CANCELLED', outcome: 'not-sent' });
      await peer.closed;
      t.same(peer.ops, [0x09]);
      t.equal(set.engine.peers.length, 1, 'there is nothing to cancel');
    });

    t.test('an abort while the call waits its turn, or for a busy engine, sends nothing (N3)', async (t) => {
      const set = await stage(t, connect, {
        limits: { poolSize: 1 },
        random: {
          fill: (bytes: Uint8Array<ArrayBuffer>) => crypto.getRandomValues(bytes),
          fraction: () => 0.5,
        },
      });
      const first = set.client.execute('first');
      const controller = new AbortController();
      const second = set.client.execute('second', [], { signal: controller.signal });
      const peer = await set.engine.ready();
      const request = await peer.next();
      controller.abort();
      await t.rejects(second, { code: 'CANCELLED', outcome: 'not-sent' });
      peer.answer(request, 0x00, 'a\n');
      await first;
      const retry = new AbortController();
      const busy = set.client.execute('busy', [], { signal: retry.signal });
      peer.answer(await peer.next(), 0x01, 'server busy: query admission rejected');
      await until(() => set.events.some((event) => event.name === 'call-delayed'));
      retry.abort();
      await t.rejects(busy, { code: 'CANCELLED', outcome: 'not-run' });
      set.clock.advance(10_000);
      t.same(peer.frames.map(payloadOf).slice(1), ['first', 'busy']);
    });

    t.test('an abort after the answer has no effect, and no listener stays (C-85)', async (t) => {
      const set = await stage(t, connect);
      const controller = new AbortController();
      const timers: number[] = [];
      for (let round = 0; round < 20; round++) {
        const call = set.client.execute('a', [], { signal: controller.signal });
        const peer = set.engine.peers[0] ?? (await set.engine.ready());
        peer.answer(await peer.next(), 0x00, 'a\n');
        t.same((await call).columns, ['a']);
        t.equal(getEventListeners(controller.signal, 'abort').length, 0);
        timers.push(set.clock.pending);
      }
      controller.abort();
      t.equal(set.engine.peers.length, 1);
      t.same(new Set(timers).size, 1, 'nor any timer, beside those of the one socket');
    });

    t.test('callers who give up often hold a bounded number of sockets', async (t) => {
      const set = await stage(t, connect, { limits: { poolSize: 2 } });
      const targets: Peer[] = [];
      for (let count = 0; count < 3; count++) {
        const controller = new AbortController();
        const call = set.client.execute('slow', [], { signal: controller.signal });
        let target = await set.engine.ready();
        // Connections of cancels arrive in between.
        for (let request = await target.next(); request.readUInt8(0) !== 0x0b; request = await target.next())
          target = await set.engine.ready();
        targets.push(target);
        controller.abort();
        await t.rejects(call, { code: 'CANCELLED' });
      }
      t.equal(await targets[0]?.closed, 4008, 'the oldest had to go');
      t.match(set.client.info().sockets, { draining: 2 });
    });

    t.test('close() ends what drains as well', async (t) => {
      const set = await stage(t, connect);
      const { target } = await givenUp(set);
      await set.client.close();
      await target.closed;
      t.same(set.client.info().sockets, { connecting: 0, authenticating: 0, ready: 0, busy: 0, draining: 0 });
      t.equal(set.clock.pending, 0);
    });
  });
