/** A `timestamp with time zone`, as Trino writes it → the instant it names. */

/** An instant with its nanoseconds. `Temporal.Instant` is one. */
export interface InstantLike {
  readonly epochNanoseconds: bigint;
  readonly epochMilliseconds: number;
}

/**
 * The instant of a value of type `timestamp(p) with time zone`, such as `2001-08-22 03:04:05.321 America/New_York` or
 * `2020-06-10 15:55:23.383345 -08:30`. A time that a clock shows twice, as summer time ends, is the earlier one: the wire form does not tell.
 *
 * @returns a `Temporal.Instant` where the engine has Temporal, else nanoseconds since the epoch as a bigint.
 * @throws TypeError for a text of another form, an unknown zone, an instant past those of `Date`, and digits finer than a nanosecond, which would
 * be lost.
 */
export function toInstant(text: string): bigint | InstantLike {
  const nanoseconds = epochNanosecondsOf(text);
  const temporal = (globalThis as { Temporal?: { Instant: new (nanoseconds: bigint) => InstantLike } })
    .Temporal;
  return temporal === undefined ? nanoseconds : new temporal.Instant(nanoseconds);
}

const FORM = /^([+-]?\d{4,6})-(\d\d)-(\d\d) (\d\d):(\d\d):(\d\d)(?:\.(\d{1,12}))? ?(\S+)$/;
const OFFSET = /^([+-])([01]\d|2[0-3]):([0-5]\d)$/;
const MS_PER_MINUTE = 60_000;
const MS_PER_DAY = 86_400_000;
const NS_PER_MS = 1_000_000n;
/** The last instant of Date, of Temporal and of the time zones (ECMA-262, "Time Values and Time Range"). */
const LAST_MS = 8_640_000_000_000_000;

function epochNanosecondsOf(text: string): bigint {
  const match = FORM.exec(text);
  if (match === null) throw new TypeError('not a timestamp with time zone');
  const [, year, month, day, hour, minute, second, fraction = '', zone = ''] = match;
  const wall = wallMs([year, month, day, hour, minute, second].map(Number));
  if (Number(fraction.slice(9).padEnd(1, '0')) !== 0) {
    throw new TypeError('a timestamp finer than nanoseconds is no instant');
  }
  const nanoseconds = BigInt(fraction.slice(0, 9).padEnd(9, '0'));
  const epochMs = BigInt(inRange(wall - offsetMsAt(wall, zone)));
  const instant = epochMs * NS_PER_MS + nanoseconds;
  if (instant > BigInt(LAST_MS) * NS_PER_MS) throw new TypeError(OUT_OF_RANGE);
  return instant;
}

const OUT_OF_RANGE = 'not an instant that a clock of this machine can show';

function inRange(epochMs: number): number {
  if (Math.abs(epochMs) > LAST_MS) throw new TypeError(OUT_OF_RANGE);
  return epochMs;
}

// The time on the clock, counted as if it were UTC. Date.UTC takes the years 0 to 99 for those of the 20th century.
function wallMs(parts: readonly number[]): number {
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = parts;
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  const rolledOver = date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day;
  date.setUTCHours(hour, minute, second);
  if (rolledOver || hour > 23 || minute > 59 || second > 59 || Number.isNaN(date.getTime())) {
    throw new TypeError('not a time of the calendar');
  }
  return date.getTime();
}

function offsetMsAt(wall: number, zone: string): number {
  if (zone === 'UTC' || zone === 'Z') return 0;
  const offset = OFFSET.exec(zone);
  if (offset === null) return zoneOffsetMs(wall, clockOf(zone));
  const minutes = Number(offset[2]) * 60 + Number(offset[3]);
  return (offset[1] === '-' ? -minutes : minutes) * MS_PER_MINUTE;
}

type Clock = (epochMs: number) => number;

// A zone's offset is that of the day before or of the day after: the first that gives back the time on the clock is the earlier instant.
function zoneOffsetMs(wall: number, clock: Clock): number {
  const before = clock(wall - MS_PER_DAY) - (wall - MS_PER_DAY);
  const after = clock(wall + MS_PER_DAY) - (wall + MS_PER_DAY);
  if (clock(wall - before) === wall) return before;
  // In the gap as summer time begins neither fits, and the clock before it counts on.
  return clock(wall - after) === wall ? after : before;
}

function clockOf(zone: string): Clock {
  const format = formatOf(zone);
  return (epochMs) => {
    const parts = new Map(format.formatToParts(inRange(epochMs)).map(({ type, value }) => [type, value]));
    const number = (name: Intl.DateTimeFormatPartTypes): number => Number(parts.get(name));
    const year = parts.get('era') === 'BC' ? 1 - number('year') : number('year');
    return wallMs([year, number('month'), number('day'), number('hour'), number('minute'), number('second')]);
  };
}

function formatOf(zone: string): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      calendar: 'gregory',
      numberingSystem: 'latn',
      hourCycle: 'h23',
      era: 'short',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
  } catch {
    throw new TypeError('not a time zone of this machine');
  }
}
