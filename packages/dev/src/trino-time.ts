import { Refusal } from './engine-refusal.js';

const unitsPerDay = (unitsPerSecond: bigint) => 86_400n * unitsPerSecond;

/** A date from days since 1970-01-01: ISO 8601, with a sign on years before 0 and after 9999, as Java has it. */
export function dateText(days: number): string {
  // Howard Hinnant's civil_from_days: JavaScript's Date ends at the year 275,760, SQL dates do not.
  const shifted = days + 719_468;
  const era = Math.floor(shifted / 146_097);
  const dayOfEra = shifted - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra -
      Math.floor(dayOfEra / 1_460) +
      Math.floor(dayOfEra / 36_524) -
      Math.floor(dayOfEra / 146_096)) /
      365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const monthFromMarch = Math.floor((5 * dayOfYear + 2) / 153);
  const day = dayOfYear - Math.floor((153 * monthFromMarch + 2) / 5) + 1;
  const month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9;
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0);
  return `${yearText(year)}-${pad(month, 2)}-${pad(day, 2)}`;
}

function yearText(year: number): string {
  if (year < 0) return `-${pad(-year, 4)}`;
  return year > 9999 ? `+${year}` : pad(year, 4);
}

/** A time of day from units since midnight, with `precision` decimal digits of a second. */
export function timeText(units: bigint, precision: number): string {
  const perSecond = 10n ** BigInt(precision);
  if (units >= unitsPerDay(perSecond)) throw new Refusal('The time 24:00:00 has no form in Trino.');
  const seconds = Number(units / perSecond);
  const clock = `${pad(Math.floor(seconds / 3_600), 2)}:${pad(Math.floor(seconds / 60) % 60, 2)}:${pad(seconds % 60, 2)}`;
  return precision === 0 ? clock : `${clock}.${String(units % perSecond).padStart(precision, '0')}`;
}

/** A timestamp from units since the epoch; before it the units are negative, so the division rounds down. */
export function timestampText(units: bigint, precision: number): string {
  const perDay = unitsPerDay(10n ** BigInt(precision));
  let days = units / perDay;
  let ofDay = units % perDay;
  if (ofDay < 0n) {
    days -= 1n;
    ofDay += perDay;
  }
  return `${dateText(Number(days))} ${timeText(ofDay, precision)}`;
}

/** An offset from seconds east of UTC: `+02:00`. */
export function offsetText(seconds: number): string {
  const minutes = Math.abs(seconds) / 60;
  if (!Number.isInteger(minutes)) throw new Refusal('A time zone offset with seconds has no form in Trino.');
  return `${seconds < 0 ? '-' : '+'}${pad(Math.floor(minutes / 60), 2)}:${pad(minutes % 60, 2)}`;
}

/** An interval year to month: `1-2`; the sign covers the whole. */
export function monthsText(months: number): string {
  const magnitude = Math.abs(months);
  return `${months < 0 ? '-' : ''}${Math.floor(magnitude / 12)}-${magnitude % 12}`;
}

/** An interval day to second, to the millisecond: `-1 12:00:00.000`; the sign covers the whole. */
export function daysText(days: number, micros: bigint): string {
  const millis = (BigInt(days) * unitsPerDay(1_000_000n) + micros) / 1_000n;
  const magnitude = millis < 0n ? -millis : millis;
  const perDay = unitsPerDay(1_000n);
  return `${millis < 0n ? '-' : ''}${magnitude / perDay} ${timeText(magnitude % perDay, 3)}`;
}

function pad(value: number, digits: number): string {
  return String(value).padStart(digits, '0');
}
