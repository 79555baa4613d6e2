import t from 'tap';
import { makeKey, token } from '../tokens.js';
import {
  collectEvents,
  held,
  hourLong,
  junk,
  keySet,
  nextEvent,
  type StoreUnderTest,
  settle,
  startStore,
  UNAVAILABLE,
  UNKNOWN,
  unreachable,
} from './key-store.js';

const root = makeKey('root');
const b1 = makeKey('b1');
const b2 = makeKey('b2');
const stranger = makeKey('stranger');

/** A store that has just fetched b1, with two tokens of it: one kept as verified, one never seen. */
async function storeWithKeys(): Promise<{ store: StoreUnderTest; seen: string; unseen: () => string }> {
  const store = startStore({ environmentKeys: [root] });
  store.answer(() => keySet(b1));
  const seen = hourLong(b1);
  await store.verdict(seen);
  let count = 0;
  return { store, seen, unseen: () => hourLong(b1, `person-${count++}`) };
}

t.test('nothing is fetched for the keys of the environment, however old they are', async (t) => {
  const store = startStore({ environmentKeys: [root] });
  const seen = hourLong(root);
  t.equal(await store.verdict(seen), 'person ana-0001');
  store.pass(3_599);
  const verified = nextEvent('nn-runtime:identity.verified');
  t.equal(await store.verdict(seen), 'person ana-0001');
  t.strictSame(await verified, { cached: true });
  t.equal(await store.verdict(hourLong(root, 'eva')), 'person eva');
  t.equal(store.calls.length, 0);
  t.strictSame(store.runtime.status(), {
    environmentKeys: 1,
    brokerKeys: 0,
    lastRefresh: 'never',
    identities: 2,
  });
});

for (const kind of ['a verified identity used again', 'a new identity of a known key'] as const) {
  const identityOf = (seen: string, unseen: () => string): string =>
    kind === 'a verified identity used again' ? seen : unseen();

  t.test(`${kind} does not refresh a set younger than five minutes, and does an older one`, async (t) => {
    const { store, seen, unseen } = await storeWithKeys();
    store.pass(299.999);
    await store.verdict(identityOf(seen, unseen));
    await settle();
    t.equal(store.calls.length, 1);
    store.pass(0.001);
    const refreshed = nextEvent('nn-runtime:keys.refreshed');
    t.match(await store.verdict(identityOf(seen, unseen)), /^person /);
    t.strictSame(await refreshed, { outcome: 'ok', keys: 1, milliseconds: 0 });
    t.equal(store.calls.length, 2);
    t.match(store.runtime.status(), { brokerKeysAgeSeconds: 0, lastRefresh: 'ok' });
  });

  t.test(
    `${kind} is served from the old set while its refresh is under way, one refresh for all`,
    async (t) => {
      const { store, seen, unseen } = await storeWithKeys();
      store.pass(300);
      const slow = held();
      store.answer(() => slow.promise);
      for (let index = 0; index < 50; index += 1) {
        t.match(await store.verdict(identityOf(seen, unseen)), /^person /);
      }
      t.equal(store.calls.length, 2);
      const refreshed = nextEvent('nn-runtime:keys.refreshed');
      slow.release(keySet(b1));
      await refreshed;
    },
  );

  t.test(`${kind} ends when its key is withdrawn, with the next good refresh`, async (t) => {
    const { store, seen, unseen } = await storeWithKeys();
    store.answer(() => keySet(b2));
    store.pass(300);
    const refreshed = nextEvent('nn-runtime:keys.refreshed');
    t.match(
      await store.verdict(identityOf(seen, unseen)),
      /^person /,
      'the last one, which starts the refresh',
    );
    await refreshed;
    t.equal(await store.verdict(identityOf(seen, unseen)), UNKNOWN);
  });

  t.test(`${kind} of a key under whose ID the broker now has another key ends`, async (t) => {
    const { store, seen, unseen } = await storeWithKeys();
    const other = makeKey('b1');
    store.answer(() => keySet(other));
    store.pass(300);
    const refreshed = nextEvent('nn-runtime:keys.refreshed');
    await store.verdict(identityOf(seen, unseen));
    await refreshed;
    t.equal(await store.verdict(identityOf(seen, unseen)), '401 signature');
    t.equal(await store.verdict(hourLong(other)), 'person ana-0001');
  });

  t.test(`${kind} is served through ten minutes of outage, and is 503 at the hard limit`, async (t) => {
    const { store, seen, unseen } = await storeWithKeys();
    store.pass(300);
    store.answer(unreachable);
    for (let minute = 0; minute < 10; minute += 1) {
      t.match(await store.verdict(identityOf(seen, unseen)), /^person /, `minute ${minute} of the outage`);
      await settle();
      store.pass(59.9);
    }
    store.pass(0.999);
    t.match(await store.verdict(identityOf(seen, unseen)), /^person /, '14:59.999');
    await settle();
    t.match(store.runtime.status(), { brokerKeys: 1, brokerKeysAgeSeconds: 899, lastRefresh: 'failed' });
    store.pass(0.001);
    t.equal(await store.verdict(identityOf(seen, unseen)), UNAVAILABLE);
    t.equal(await store.verdict(hourLong(root)), 'person ana-0001', 'the trust root stays');
    store.pass(60);
    store.answer(() => keySet(b1));
    t.match(await store.verdict(identityOf(seen, unseen)), /^person /, 'healed');
  });

  t.test(`${kind} outlives a refresh that keeps its key`, async (t) => {
    const { store, seen, unseen } = await storeWithKeys();
    store.answer(() => keySet(b2, b1));
    store.pass(300);
    const refreshed = nextEvent('nn-runtime:keys.refreshed');
    await store.verdict(identityOf(seen, unseen));
    await refreshed;
    const verified = nextEvent('nn-runtime:identity.verified');
    t.match(await store.verdict(identityOf(seen, unseen)), /^person /);
    t.strictSame(await verified, { cached: kind === 'a verified identity used again' });
  });
}

t.test(
  'a set past its hard limit is asked for again, and waited for, at no cost to the flood budget',
  async (t) => {
    const { store, seen } = await storeWithKeys();
    for (let index = 0; index < 2; index += 1) await store.verdict(junk(stranger));
    t.equal(store.calls.length, 3, 'the budget is spent');
    store.pass(900);
    t.equal(await store.verdict(seen), 'person ana-0001');
    t.equal(store.calls.length, 4);
  },
);

t.test('the refresh of a stale set costs the flood budget nothing', async (t) => {
  const { store, seen } = await storeWithKeys();
  store.pass(300);
  const refreshed = nextEvent('nn-runtime:keys.refreshed');
  await store.verdict(seen);
  await refreshed;
  for (let index = 0; index < 20; index += 1) await store.verdict(junk(stranger));
  t.equal(store.calls.length, 5, 'three for the flood, after two that were not its');
});

t.test('an unknown key ID waits for a refresh that is under way, and is known by it', async (t) => {
  const { store, seen } = await storeWithKeys();
  store.pass(300);
  const slow = held();
  store.answer(() => slow.promise);
  await store.verdict(seen);
  const first = store.verdict(hourLong(b2));
  await settle();
  slow.release(keySet(b1, b2));
  t.equal(await first, 'person ana-0001');
  t.equal(store.calls.length, 2);
});

t.test('an unknown key ID is 401 within five minutes of a good answer, and 503 without one', async (t) => {
  const store = startStore({ environmentKeys: [root] });
  t.equal(await store.verdict(junk(stranger)), UNAVAILABLE, 'the broker was never reached');
  store.pass(60);
  store.answer(() => keySet(b1));
  t.equal(await store.verdict(junk(stranger)), UNKNOWN);
  store.answer(unreachable);
  store.pass(299.999);
  t.equal(await store.verdict(junk(stranger)), UNKNOWN, 'although this look failed');
  store.pass(0.001);
  t.equal(await store.verdict(junk(stranger)), UNAVAILABLE, 'nobody can say any more');
});

t.test('a flood heeds the back-off of a broker that is down, also when the set is due', async (t) => {
  const { store } = await storeWithKeys();
  store.answer(unreachable);
  store.pass(300);
  const flood = async (): Promise<number> => {
    for (let index = 0; index < 20; index += 1) t.equal(await store.verdict(junk(stranger)), UNAVAILABLE);
    return store.calls.length;
  };
  t.equal(await flood(), 2);
  store.pass(0.749);
  t.equal(await flood(), 2);
  store.pass(0.001);
  t.equal(await flood(), 3);
});

t.test('the age of a set counts from the question, not from the answer', async (t) => {
  const store = startStore({ environmentKeys: [root] });
  const slow = held();
  store.answer(() => slow.promise);
  const first = store.verdict(hourLong(b1));
  await settle();
  store.pass(4);
  slow.release(keySet(b1));
  await first;
  t.match(store.runtime.status(), { brokerKeysAgeSeconds: 4 });
});

t.test('failures back off, doubling from a second to at most a minute, with jitter', async (t) => {
  for (const [random, pauses] of [
    [0, [0.5, 1, 2, 4, 8, 16, 30, 30, 30]],
    [0.5, [0.75, 1.5, 3, 6, 12, 24, 45, 45, 45]],
    [1 - Number.EPSILON, [1, 2, 4, 8, 16, 32, 60, 60, 60]],
  ] as const) {
    const store = startStore({ environmentKeys: [root], random: () => random });
    store.answer(() => keySet(b1));
    const seen = hourLong(b1);
    await store.verdict(seen);
    store.answer(unreachable);
    store.pass(300);
    const ask = async (): Promise<number> => {
      // Past the hard limit nobody is served any more, but the questions go on.
      await store.verdict(seen);
      await settle();
      return store.calls.length;
    };
    let asked = await ask();
    for (const pause of pauses) {
      store.pass(pause - 0.002);
      t.equal(await ask(), asked, `not before ${pause} s`);
      store.pass(0.003);
      t.equal(await ask(), asked + 1, `but after ${pause} s`);
      asked += 1;
    }
    store.pass(60);
    store.answer(() => keySet(b1));
    await ask();
    store.answer(unreachable);
    store.pass(300);
    asked = await ask();
    store.pass(1);
    t.equal(await ask(), asked + 1, 'a good answer starts the pauses anew');
  }
});

t.test(
  'a generator that draws no number in [0, 1) makes the pauses whole, and neither endless nor none',
  async (t) => {
    for (const drawn of [Number.NaN, Number.POSITIVE_INFINITY, -1, 2]) {
      const store = startStore({ environmentKeys: [root], random: () => drawn });
      store.answer(unreachable);
      await store.verdict(hourLong(b1));
      t.equal(store.calls.length, 1);
      store.pass(0.999);
      await store.verdict(hourLong(b1));
      t.equal(store.calls.length, 1, `${drawn}: not at once`);
      store.pass(0.001);
      await store.verdict(hourLong(b1));
      t.equal(store.calls.length, 2, `${drawn}: but after a second`);
    }
  },
);

t.test('a clock that is set back serves known keys, forgets no pause, and lengthens none', async (t) => {
  const { store, seen } = await storeWithKeys();
  store.answer(unreachable);
  await store.verdict(junk(stranger));
  t.equal(store.calls.length, 2);
  // Half an hour back: tokens of an hour ago are good for this.
  const early = token(b1, { iat: 1_796_037_000, nbf: 1_796_037_000, exp: 1_796_040_600 });
  store.pass(-1_800);
  t.equal(await store.verdict(early), 'person ana-0001');
  t.equal(await store.verdict(seen), '401 not-yet-valid');
  store.answer(() => keySet(b1, b2));
  store.pass(1);
  const rotatedIn = token(b2, { iat: 1_796_037_000, nbf: 1_796_037_000, exp: 1_796_040_600 });
  t.equal(await store.verdict(rotatedIn), 'person ana-0001', 'a pause of a second is still one');
});

t.test('a clock that is set back does not lengthen the trust in a set that nobody can refresh', async (t) => {
  const { store } = await storeWithKeys();
  const long = token(b1, { iat: 1_796_037_600, nbf: 1_796_037_600, exp: 1_796_041_200 });
  store.answer(unreachable);
  store.pass(840);
  t.equal(await store.verdict(long), 'person ana-0001', 'fourteen minutes old');
  await settle();
  store.pass(-1_800);
  t.equal(await store.verdict(long), 'person ana-0001');
  await settle();
  store.pass(59);
  t.equal(await store.verdict(long), 'person ana-0001');
  await settle();
  store.pass(1);
  t.equal(await store.verdict(long), UNAVAILABLE, 'fifteen minutes after its fetch, whatever the clock says');
});

t.test('a clock set forth and back costs one refresh', async (t) => {
  const { store, seen } = await storeWithKeys();
  store.pass(1_000);
  t.equal(await store.verdict(seen), 'person ana-0001');
  t.equal(store.calls.length, 2);
  store.pass(-1_000);
  t.equal(await store.verdict(seen), 'person ana-0001');
  await settle();
  t.equal(store.calls.length, 2);
  for (let index = 0; index < 10; index += 1) await store.verdict(junk(stranger));
  t.equal(store.calls.length, 5, 'the budget neither grew nor vanished');
});

t.test('a set that went untrusted does not come back with the clock', async (t) => {
  const { store, seen } = await storeWithKeys();
  store.answer(unreachable);
  store.pass(900);
  t.equal(await store.verdict(seen), UNAVAILABLE);
  store.pass(-300);
  t.equal(await store.verdict(seen), UNAVAILABLE);
});

t.test('a broker that recovers is told of in events and in the status', async (t) => {
  const { store, seen } = await storeWithKeys();
  const refreshes = collectEvents('nn-runtime:keys.refreshed');
  store.answer(unreachable);
  store.pass(300);
  await store.verdict(seen);
  await settle();
  store.answer(() => keySet(b1, b2));
  store.pass(1);
  await store.verdict(seen);
  await settle();
  refreshes.stop();
  t.strictSame(refreshes.events, [
    { outcome: 'failed', problem: 'unreachable', milliseconds: 0 },
    { outcome: 'ok', keys: 2, milliseconds: 0 },
  ]);
  t.match(store.runtime.status(), { environmentKeys: 1, brokerKeys: 2, lastRefresh: 'ok' });
});

t.test(
  'close() ends a question under way: who waited for it is refused, and nothing is fetched afterwards',
  async (t) => {
    const store = startStore({ environmentKeys: [root] });
    store.answer(() => new Promise<Response>(() => undefined));
    const refreshed = nextEvent('nn-runtime:keys.refreshed');
    const waiting = store.verdict(hourLong(b1));
    await settle();
    await store.runtime.close();
    t.equal(await waiting, UNAVAILABLE);
    t.strictSame(await refreshed, { outcome: 'failed', problem: 'closed', milliseconds: 0 });
    t.equal(store.calls[0]?.init.signal?.aborted, true);
    store.pass(60);
    t.equal(await store.verdict(hourLong(b1)), UNAVAILABLE);
    t.equal(await store.verdict(hourLong(root)), UNAVAILABLE);
    t.equal(store.calls.length, 1);
  },
);

t.test('close() before the first question keeps it from being asked', async (t) => {
  const store = startStore({ environmentKeys: [root] });
  store.answer(() => keySet(b1));
  const waiting = store.verdict(hourLong(b1));
  await store.runtime.close();
  t.equal(await waiting, UNAVAILABLE);
  t.equal(store.calls.length, 0);
});
