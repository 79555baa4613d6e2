import { type InstantLike, rowToObject, toInstant, type Value } from '@nn-runtime/core';
import t from 'tap';

const nanoseconds = (instant: bigint | InstantLike): bigint =>
  typeof instant === 'bigint' ? instant : instant.epochNanoseconds;

// Text as Trino writes it → nanoseconds since the epoch.
const INSTANTS: Record<string, bigint> = {
  '1970-01-01 00:00:00 UTC': 0n,
  '1970-01-01 00:00:00.000000001 UTC': 1n,
  '1969-12-31 23:59:59.999999999 UTC': -1n,
  '2001-08-22 03:04:05.321 America/New_York': 998_463_845_321_000_000n,
  '2001-08-22 03:04:05.321000000000 America/New_York': 998_463_845_321_000_000n,
  '2020-06-10 15:55:23.383345 -08:30': 1_591_835_123_383_345_000n,
  '2020-06-10 15:55:23+05:45': 1_591_783_823_000_000_000n,
  // Summer time ends: the clock shows 01:30 twice, and the first is meant.
  '2021-11-07 01:30:00 America/New_York': 1_636_263_000_000_000_000n,
  '2021-10-31 02:30:00.5 Europe/Berlin': 1_635_640_200_500_000_000n,
  // Summer time begins: 02:30 was never shown, and the clock before it counts on.
  '2021-03-14 02:30:00 America/New_York': 1_615_707_000_000_000_000n,
  '2021-03-14 03:00:00 America/New_York': 1_615_705_200_000_000_000n,
  '0050-01-01 00:00:00 UTC': -60_589_296_000_000_000_000n,
  '-0001-01-01 00:00:00 UTC': -62_198_755_200_000_000_000n,
  '+12020-01-01 00:00:00 UTC': 317_147_356_800_000_000_000n,
  '+275760-09-13 00:00:00 UTC': 8_640_000_000_000_000_000_000n,
  '-271821-04-20 00:00:00 UTC': -8_640_000_000_000_000_000_000n,
};

for (const [text, expected] of Object.entries(INSTANTS)) {
  t.test(text, async (t) => {
    t.equal(nanoseconds(toInstant(text)), expected);
  });
}

for (const text of [
  '2001-08-22 03:04:05.321',
  '2001-08-22T03:04:05Z',
  '2001-02-30 00:00:00 UTC',
  '2001-08-22 24:00:00 UTC',
  '2001-08-22 03:04:05.0000000001 UTC',
  '2001-08-22 03:04:05 Mars/Olympus',
  '2001-08-22 03:04:05 +24:00',
  '2001-08-22 03:04:05 -99:99',
  '2001-08-22 03:04:05 +01:60',
  // Past what Date, Temporal and the time zones know.
  '+275760-09-13 00:00:00 -00:01',
  '+275760-09-13 00:00:00.000000001 UTC',
  '+275760-09-13 00:00:00 America/New_York',
  '-271821-04-20 00:00:00 +00:01',
  '-271821-04-20 00:00:00 Europe/Berlin',
  '2001-08-22',
  '',
]) {
  t.test(`${text || 'an empty text'} is no instant`, async (t) => {
    t.throws(() => toInstant(text), TypeError);
  });
}

t.test('where the engine has Temporal, the instant is one of its own', async (t) => {
  class Instant {
    readonly epochNanoseconds: bigint;
    constructor(epochNanoseconds: bigint) {
      this.epochNanoseconds = epochNanoseconds;
    }
  }
  t.intercept(globalThis as { Temporal?: unknown }, 'Temporal', { value: { Instant } });
  const instant = toInstant('1970-01-01 00:00:00.000000007 UTC');
  t.ok(instant instanceof Instant);
  t.equal((instant as InstantLike).epochNanoseconds, 7n);
});

t.test('a row becomes an object by its field names, rows inside it too', async (t) => {
  const type =
    'row(a bigint, array(row(X double, varchar)), "with ""quote""" map(varchar, row(v boolean)), __proto__ date)';
  const value: Value = [1, [[2.5, 'b'], null], new Map<Value, Value>([['k', [true]]]), '2001-08-22'];
  const object = rowToObject(value, type) as Record<string, unknown>;
  t.strictSame(Object.entries(object), [
    ['a', 1],
    ['field1', [{ X: 2.5, field1: 'b' }, null]],
    ['with "quote"', new Map([['k', { v: true }]])],
    ['__proto__', '2001-08-22'],
  ]);
  t.strictSame(value[1], [[2.5, 'b'], null], 'and the value given stays as it was');
  t.equal(rowToObject(null, type), null);
});

t.test('a row with two fields of one name is read by position', async (t) => {
  t.throws(() => rowToObject([1, 2], 'row(a bigint, a bigint)'), /one name/);
  t.throws(() => rowToObject([1, 2], 'row(field1 bigint, bigint)'), /one name/);
});

t.test('what is not a row, or not of its type, is refused', async (t) => {
  t.throws(() => rowToObject([1], 'array(bigint)'), TypeError);
  t.throws(() => rowToObject([1], 'not a type('), TypeError);
  t.throws(() => rowToObject([1, 2], 'row(a bigint)'), TypeError);
  t.throws(() => rowToObject('a', 'row(a bigint)'), TypeError);
});
