import {
  DuckDBBlobValue,
  DuckDBTimeNSValue,
  DuckDBTimestampMillisecondsValue,
  DuckDBTimestampNanosecondsValue,
  DuckDBTimestampSecondsValue,
  DuckDBTimestampTZValue,
  DuckDBTimestampValue,
  DuckDBTimeTZValue,
  DuckDBTimeValue,
  type DuckDBValue,
} from '@duckdb/node-api';
import { Refusal } from './engine-refusal.js';
import type { TrinoType } from './trino-encode.js';
import { offsetText, timestampText, timeText } from './trino-time.js';

/** A time of day, with its number of fraction digits. */
export function timeType(precision: 6 | 9): TrinoType {
  return {
    name: `time(${precision})`,
    encode(value) {
      if (value instanceof DuckDBTimeValue) return `"${timeText(value.micros, 6)}"`;
      if (value instanceof DuckDBTimeNSValue) return `"${timeText(value.nanos, 9)}"`;
      throw new Refusal('A time could not be read.');
    },
  };
}

/** A timestamp without zone, with its number of fraction digits. */
export function timestampType(precision: 0 | 3 | 6 | 9): TrinoType {
  return {
    name: `timestamp(${precision})`,
    encode: (value) => `"${timestampText(unitsOf(value), precision)}"`,
  };
}

/** The types whose values need no parameter. */
export function scalarOf(
  name: 'varbinary' | 'time(6) with time zone' | 'timestamp(6) with time zone',
): TrinoType {
  return { name, encode: encoders[name] };
}

const encoders = {
  varbinary(value: DuckDBValue): string {
    if (!(value instanceof DuckDBBlobValue)) throw new Refusal('Bytes could not be read.');
    return `"${Buffer.from(value.bytes).toString('base64')}"`;
  },
  'time(6) with time zone'(value: DuckDBValue): string {
    if (!(value instanceof DuckDBTimeTZValue)) throw new Refusal('A time could not be read.');
    return `"${timeText(value.micros, 6)}${offsetText(value.offset)}"`;
  },
  // From the microseconds: the value's own `toString` uses the zone of the process.
  'timestamp(6) with time zone'(value: DuckDBValue): string {
    return `"${timestampText(unitsOf(value), 6)} UTC"`;
  },
};

function unitsOf(value: DuckDBValue): bigint {
  if (value instanceof DuckDBTimestampSecondsValue && value.isFinite) return value.seconds;
  if (value instanceof DuckDBTimestampMillisecondsValue && value.isFinite) return value.millis;
  if (value instanceof DuckDBTimestampValue && value.isFinite) return value.micros;
  if (value instanceof DuckDBTimestampNanosecondsValue && value.isFinite) return value.nanos;
  if (value instanceof DuckDBTimestampTZValue && value.isFinite) return value.micros;
  throw new Refusal('An infinite timestamp has no form in Trino.');
}
