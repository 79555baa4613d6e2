import t from 'tap';
import fc from '../property.js';
import { makeKey, token } from '../tokens.js';
import {
  collectEvents,
  held,
  hourLong,
  junk,
  keySet,
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

t.test('1,000 unknown key IDs one after the other cost three questions, and are 401', async (t) => {
  const store = startStore({ environmentKeys: [root] });
  store.answer(() => keySet(b1));
  for (let index = 0; index < 1_000; index += 1) {
    if ((await store.verdict(junk(stranger))) !== UNKNOWN) t.fail('junk was not refused as unknown');
  }
  t.equal(store.calls.length, 3);
});

t.test('1,000 unknown key IDs at once cost one question, and are 401', async (t) => {
  const store = startStore({ environmentKeys: [root] });
  store.answer(() => keySet(b1));
  const verdicts = await Promise.all(Array.from({ length: 1_000 }, () => store.verdict(junk(stranger))));
  t.strictSame(new Set(verdicts), new Set([UNKNOWN]));
  t.equal(store.calls.length, 1);
});

t.test(
  '1,000 unknown key IDs against a broker that is down cost at most the budget, and are 503',
  async (t) => {
    const store = startStore({ environmentKeys: [root] });
    for (let index = 0; index < 1_000; index += 1) {
      store.pass(0.009);
      if ((await store.verdict(junk(stranger))) !== UNAVAILABLE)
        t.fail('junk was not refused as unavailable');
    }
    // Nine seconds: the first pauses of the back-off are over by then, so it is the budget that holds.
    t.equal(store.calls.length, 3);
  },
);

t.test('the budget earns one question every ten seconds, and never holds more than three', async (t) => {
  const store = startStore({ environmentKeys: [root] });
  store.answer(() => keySet(b1));
  const flood = async (): Promise<number> => {
    const before = store.calls.length;
    for (let index = 0; index < 20; index += 1) await store.verdict(junk(stranger));
    return store.calls.length - before;
  };
  t.equal(await flood(), 3);
  store.pass(9.999);
  t.equal(await flood(), 0);
  store.pass(0.001);
  t.equal(await flood(), 1);
  store.pass(20);
  t.equal(await flood(), 2);
  store.pass(240);
  t.equal(await flood(), 3);
});

t.test('known people are served while a flood waits for the broker', async (t) => {
  const store = startStore({ environmentKeys: [root] });
  store.answer(() => keySet(b1));
  t.equal(await store.verdict(hourLong(b1)), 'person ana-0001');

  const slow = held();
  store.answer(() => slow.promise);
  let refused = 0;
  const flood = Array.from({ length: 1_000 }, () =>
    store.verdict(junk(stranger)).then(() => {
      refused += 1;
    }),
  );
  await settle();
  const people = Array.from({ length: 25 }, (_, index) => `person-${index}`);
  for (const key of [root, b1]) {
    const served = await Promise.all(people.map((person) => store.verdict(hourLong(key, person))));
    t.strictSame(
      served,
      people.map((person) => `person ${person}`),
    );
  }
  t.equal(refused, 0, 'the flood is still waiting');
  t.equal(store.calls.length, 2);
  slow.release(keySet(b1));
  await Promise.all(flood);
  t.equal(refused, 1_000);
});

t.test('a flood past its budget neither asks nor waits', async (t) => {
  const store = startStore({ environmentKeys: [root] });
  store.answer(() => keySet(b1));
  for (let index = 0; index < 3; index += 1) await store.verdict(junk(stranger));
  store.answer(() => new Promise<Response>(() => undefined));
  t.equal(await store.verdict(junk(stranger)), UNKNOWN);
  t.equal(store.calls.length, 3);
});

t.test('while budget remains a key that was rotated in is found at once', async (t) => {
  const store = startStore({ environmentKeys: [root] });
  store.answer(() => keySet(b1));
  await store.verdict(junk(stranger));
  await store.verdict(junk(stranger));
  store.answer(() => keySet(b1, b2));
  t.equal(await store.verdict(hourLong(b2)), 'person ana-0001');
  t.equal(await store.verdict(hourLong(b1)), 'person ana-0001', 'and the former key still counts');
  t.equal(store.calls.length, 3);
});

t.test('during a flood a key that was rotated in is found within ten seconds', async (t) => {
  const store = startStore({ environmentKeys: [root] });
  store.answer(() => keySet(b1));
  for (let index = 0; index < 100; index += 1) await store.verdict(junk(stranger));
  store.answer(() => keySet(b1, b2));
  const early = await store.verdict(hourLong(b2));
  t.equal(early, UNKNOWN);
  let foundAfterSeconds = 0;
  for (let second = 1; second <= 10 && foundAfterSeconds === 0; second += 1) {
    store.pass(1);
    for (let index = 0; index < 100; index += 1) await store.verdict(junk(stranger));
    if ((await store.verdict(hourLong(b2, `eva-${second}`))) === `person eva-${second}`)
      foundAfterSeconds = second;
  }
  t.equal(foundAfterSeconds, 10);
  t.equal(store.calls.length, 4, 'the flood itself paid for it');
});

t.test('a hundred first tokens of one new key cost one question', async (t) => {
  const store = startStore({ environmentKeys: [root] });
  store.answer(() => keySet(b1));
  const verdicts = await Promise.all(
    Array.from({ length: 100 }, (_, index) => store.verdict(hourLong(b1, `p-${index}`))),
  );
  t.strictSame(
    verdicts,
    Array.from({ length: 100 }, (_, index) => `person p-${index}`),
  );
  t.equal(store.calls.length, 1);
});

t.test('a key ID that was missed is not asked for again for ten seconds, and then is', async (t) => {
  const store = startStore({ environmentKeys: [root] });
  store.answer(() => keySet(b1));
  t.equal(await store.verdict(hourLong(b2)), UNKNOWN);
  store.pass(9.999);
  t.equal(await store.verdict(hourLong(b2)), UNKNOWN);
  t.equal(store.calls.length, 1);
  store.pass(0.001);
  store.answer(() => keySet(b2));
  t.equal(await store.verdict(hourLong(b2)), 'person ana-0001');
  t.equal(store.calls.length, 2);
});

t.test('a missed key ID that a later answer contains is missed no more', async (t) => {
  const store = startStore({ environmentKeys: [root] });
  store.answer(() => keySet(b1));
  await store.verdict(hourLong(b2));
  store.answer(() => keySet(b1, b2));
  await store.verdict(junk(stranger));
  t.equal(await store.verdict(hourLong(b2)), 'person ana-0001');
  t.equal(store.calls.length, 2);
});

t.test('a look that failed says nothing about the key ID', async (t) => {
  const store = startStore({ environmentKeys: [root] });
  store.answer(() => keySet(b1));
  await store.verdict(junk(stranger));
  store.answer(unreachable);
  t.equal(await store.verdict(hourLong(b2)), UNKNOWN, 'the good set of a moment ago lacks it');
  store.answer(() => keySet(b1, b2));
  store.pass(1);
  t.equal(await store.verdict(hourLong(b2)), 'person ana-0001', 'asked again as soon as the back-off allows');
});

t.test('a missed key ID does not keep a set that went stale from being refreshed', async (t) => {
  const store = startStore({ environmentKeys: [root] });
  store.answer(() => keySet(b1));
  await store.verdict(junk(stranger));
  store.pass(299);
  const misfit = junk(stranger);
  store.answer(unreachable);
  t.equal(await store.verdict(misfit), UNKNOWN);
  store.pass(1);
  store.answer(() => keySet(b1));
  t.equal(await store.verdict(misfit), UNKNOWN, 'and not 503: the broker answers');
});

t.test('the memory of missed key IDs is bounded: the 257th pushes the first out', async (t) => {
  const store = startStore({ environmentKeys: [root] });
  const misses = Array.from({ length: 257 }, () => junk(stranger));
  store.answer(() => keySet(b1));
  await Promise.all(misses.map((miss) => store.verdict(miss)));
  t.equal(store.calls.length, 1);
  await store.verdict(misses[1] ?? '');
  t.equal(store.calls.length, 1, 'the second is remembered');
  await store.verdict(misses[0] ?? '');
  t.equal(store.calls.length, 2, 'the first is not');
});

t.test('a token that came while a question was under way gets a look of its own', async (t) => {
  const store = startStore({ environmentKeys: [root] });
  const slow = held();
  store.answer(() => slow.promise);
  const first = store.verdict(junk(stranger));
  await settle();
  // The broker read its keys before this one was published.
  const second = store.verdict(hourLong(b2));
  await settle();
  t.equal(store.calls.length, 1, 'never two at once');
  store.answer(() => keySet(b2));
  slow.release(keySet(b1));
  t.equal(await first, UNKNOWN);
  t.equal(await second, 'person ana-0001');
  t.equal(store.calls.length, 2);
});

t.test('an unusable key ID, or none, costs no question', async (t) => {
  const store = startStore({ environmentKeys: [root] });
  store.answer(() => keySet(b1));
  for (const kid of [undefined, '', 1, null, ['b1'], {}, 'k'.repeat(129), 'b1\u0000', 'b\u00e9']) {
    t.equal(await store.verdict(token(b1, {}, { kid })), '401 key-id');
  }
  t.equal(store.calls.length, 0);
});

t.test('key IDs are exact: no other case, no blanks, and no names an object has by itself', async (t) => {
  const store = startStore({ environmentKeys: [root] });
  store.answer(() => keySet(b1));
  for (const kid of ['B1', 'b1 ', ' b1', 'constructor', '__proto__', 'toString', '../b1', 'b1?', '0']) {
    t.equal(await store.verdict(token(b1, {}, { kid })), UNKNOWN, kid);
  }
  t.strictSame([...new Set(store.calls.map((call) => call.url))], ['http://broker.example/v1/jwks']);
});

t.test('whatever strangers send and the broker does, the budget and the verdicts hold', async (t) => {
  const step = fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({ do: fc.constant('pass' as const), ms: fc.integer({ min: 1, max: 20_000 }) }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        do: fc.constant('pass' as const),
        ms: fc.integer({ min: 60_000, max: 900_000 }),
      }),
    },
    {
      weight: 4,
      arbitrary: fc.record({ do: fc.constant('flood' as const), size: fc.integer({ min: 1, max: 12 }) }),
    },
    {
      weight: 2,
      arbitrary: fc.record({ do: fc.constant('storm' as const), size: fc.integer({ min: 1, max: 12 }) }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('broker' as const), up: fc.boolean() }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('rotate' as const) }) },
    { weight: 3, arbitrary: fc.record({ do: fc.constant('person' as const) }) },
  );
  const keys = Array.from({ length: 4 }, (_, index) => makeKey(`rotating-${index}`));
  const strangers = Array.from({ length: 40 }, () => junk(stranger));

  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 60 }), async (steps) => {
      const store = startStore({ environmentKeys: [root] });
      const asked: { atMs: number; due: boolean }[] = [];
      let lastGoodMs: number | undefined;
      let [up, upSinceMs, current, rotatedMs, next] = [
        true,
        store.clock.ms - 60_000,
        0,
        store.clock.ms - 60_000,
        0,
      ];
      store.answer(() => {
        const atMs = store.clock.ms;
        asked.push({ atMs, due: lastGoodMs !== undefined && atMs - lastGoodMs >= 300_000 });
        if (!up) return unreachable();
        lastGoodMs = atMs;
        return keySet(keys[current] ?? root);
      });
      const expectJunk = (verdict: string): void => {
        const isKnown = lastGoodMs !== undefined && store.clock.ms - lastGoodMs < 300_000;
        if (verdict !== (isKnown ? UNKNOWN : UNAVAILABLE)) throw new Error(`junk got ${verdict}`);
      };
      const aStranger = (): string => strangers[next++ % strangers.length] ?? '';
      const freshToken = (key = root): string =>
        token(key, {
          iat: store.clock.ms / 1000 - 1,
          nbf: store.clock.ms / 1000 - 1,
          exp: store.clock.ms / 1000 + 300,
        });
      const strangerNow = (): string => {
        const [header = ''] = aStranger().split('.');
        return [header, ...freshToken(stranger).split('.').slice(1)].join('.');
      };

      for (const action of steps) {
        if (action.do === 'pass') store.clock.ms += action.ms;
        if (action.do === 'broker' && up !== action.up) [up, upSinceMs] = [action.up, store.clock.ms];
        if (action.do === 'rotate') [current, rotatedMs] = [(current + 1) % keys.length, store.clock.ms];
        if (action.do === 'flood')
          for (let index = 0; index < action.size; index += 1) expectJunk(await store.verdict(strangerNow()));
        if (action.do === 'storm')
          for (const verdict of await Promise.all(
            Array.from({ length: action.size }, () => store.verdict(strangerNow())),
          ))
            expectJunk(verdict);
        if (action.do === 'person') {
          if ((await store.verdict(freshToken())) !== 'person ana-0001')
            throw new Error('the root key failed');
          const verdict = await store.verdict(freshToken(keys[current]));
          // Ten seconds after its rotation, and a whole back-off after the broker's return, the key is known.
          const settled = store.clock.ms - rotatedMs >= 10_000 && store.clock.ms - upSinceMs >= 60_000;
          if (up && settled && verdict !== 'person ana-0001') throw new Error(`the new key got ${verdict}`);
          await settle();
        }
      }
      // Between any two questions that strangers caused: three, and one for each ten seconds between them.
      const bought = asked.filter((question) => !question.due).map((question) => question.atMs);
      bought.forEach((from, first) => {
        bought.slice(first).forEach((to, more) => {
          if (more + 1 > 3 + Math.floor((to - from) / 10_000))
            throw new Error(`${more + 1} questions within ${to - from} ms`);
        });
      });
    }),
    { numRuns: 60, seed: 20_261_130 },
  );
  t.pass('60 histories');
});

t.test('a flood tells of itself in events, without key IDs', async (t) => {
  const store = startStore({ environmentKeys: [root] });
  store.answer(() => keySet(b1));
  const refreshes = collectEvents('nn-runtime:keys.refreshed');
  const refusals = collectEvents('nn-runtime:identity.refused');
  for (let index = 0; index < 10; index += 1) await store.verdict(junk(stranger));
  refreshes.stop();
  refusals.stop();
  t.strictSame(refreshes.events, Array(3).fill({ outcome: 'ok', keys: 1, milliseconds: 0 }));
  t.strictSame(refusals.events, Array(10).fill({ reason: 'unknown-key', statusCode: 401 }));
});
