import {
  DuckDBDateValue,
  DuckDBDecimalValue,
  DuckDBIntervalValue,
  type DuckDBType,
  DuckDBTypeId,
  type DuckDBValue,
} from '@duckdb/node-api';
import { Refusal } from './engine-refusal.js';
import './engine-text.js';
import type { TrinoType } from './trino-encode.js';
import { arrayType, mapType, rowType } from './trino-nested.js';
import { encodeDouble, encodeReal, fitsDecimal } from './trino-number.js';
import { scalarOf, timestampType, timeType } from './trino-scalar.js';
import { dateText, daysText } from './trino-time.js';

const digits = (value: NonNullable<DuckDBValue>) => String(value);
const quoted = (value: NonNullable<DuckDBValue>) => JSON.stringify(String(value));

/** The Trino form of a DuckDB type. A type that Trino does not have is shown as varchar. */
export function trinoType(type: DuckDBType): TrinoType {
  switch (type.typeId) {
    case DuckDBTypeId.BOOLEAN:
      return { name: 'boolean', encode: digits };
    case DuckDBTypeId.TINYINT:
      return { name: 'tinyint', encode: digits };
    case DuckDBTypeId.SMALLINT:
    case DuckDBTypeId.UTINYINT:
      return { name: 'smallint', encode: digits };
    case DuckDBTypeId.INTEGER:
    case DuckDBTypeId.USMALLINT:
      return { name: 'integer', encode: digits };
    case DuckDBTypeId.BIGINT:
    case DuckDBTypeId.UINTEGER:
      return { name: 'bigint', encode: digits };
    case DuckDBTypeId.UBIGINT:
      return { name: 'decimal(20, 0)', encode: quoted };
    case DuckDBTypeId.HUGEINT:
    case DuckDBTypeId.UHUGEINT:
    case DuckDBTypeId.BIGNUM:
      return { name: 'decimal(38, 0)', encode: encodeHuge };
    case DuckDBTypeId.FLOAT:
      return { name: 'real', encode: (value) => encodeReal(Number(value)) };
    case DuckDBTypeId.DOUBLE:
      return { name: 'double', encode: (value) => encodeDouble(Number(value)) };
    case DuckDBTypeId.DECIMAL:
      return { name: `decimal(${type.width}, ${type.scale})`, encode: encodeDecimal };
    case DuckDBTypeId.VARCHAR:
      return { name: type.alias === 'JSON' ? 'json' : 'varchar', encode: quoted };
    case DuckDBTypeId.BLOB:
      return scalarOf('varbinary');
    case DuckDBTypeId.UUID:
      return { name: 'uuid', encode: quoted };
    case DuckDBTypeId.DATE:
      return { name: 'date', encode: encodeDate };
    case DuckDBTypeId.TIME:
      return timeType(6);
    case DuckDBTypeId.TIME_NS:
      return timeType(9);
    case DuckDBTypeId.TIME_TZ:
      return scalarOf('time(6) with time zone');
    case DuckDBTypeId.TIMESTAMP_S:
      return timestampType(0);
    case DuckDBTypeId.TIMESTAMP_MS:
      return timestampType(3);
    case DuckDBTypeId.TIMESTAMP:
      return timestampType(6);
    case DuckDBTypeId.TIMESTAMP_NS:
      return timestampType(9);
    case DuckDBTypeId.TIMESTAMP_TZ:
      return scalarOf('timestamp(6) with time zone');
    case DuckDBTypeId.INTERVAL:
      return { name: 'interval day to second', encode: encodeDaysInterval };
    case DuckDBTypeId.LIST:
    case DuckDBTypeId.ARRAY:
      return arrayType(trinoType(type.valueType));
    case DuckDBTypeId.MAP:
      return mapType(type.keyType, trinoType(type.keyType), trinoType(type.valueType));
    case DuckDBTypeId.STRUCT:
      return rowType(type.entryNames, type.entryTypes.map(trinoType));
    default:
      return { name: 'varchar', encode: quoted };
  }
}

function encodeHuge(value: NonNullable<DuckDBValue>): string {
  if (typeof value !== 'bigint' || !fitsDecimal(value)) {
    throw new Refusal('A number has more than 38 digits: Trino has no type for it.');
  }
  return `"${value}"`;
}

/** From the unscaled digits: the value's own `toString` follows the process's locale settings. */
function encodeDecimal(value: NonNullable<DuckDBValue>): string {
  if (!(value instanceof DuckDBDecimalValue)) throw new Refusal('A decimal could not be read.');
  const magnitude = value.value < 0n ? -value.value : value.value;
  const text = String(magnitude).padStart(value.scale + 1, '0');
  const whole = text.slice(0, text.length - value.scale);
  const fraction = value.scale === 0 ? '' : `.${text.slice(text.length - value.scale)}`;
  return `"${value.value < 0n ? '-' : ''}${whole}${fraction}"`;
}

function encodeDate(value: NonNullable<DuckDBValue>): string {
  if (!(value instanceof DuckDBDateValue) || !value.isFinite) {
    throw new Refusal('An infinite date has no form in Trino.');
  }
  return `"${dateText(value.days)}"`;
}

function encodeDaysInterval(value: NonNullable<DuckDBValue>): string {
  if (!(value instanceof DuckDBIntervalValue) || value.months !== 0) {
    throw new Refusal('An interval of months and days, or of months inside a list, has no form in Trino.');
  }
  return `"${daysText(value.days, value.micros)}"`;
}
