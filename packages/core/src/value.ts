/** What a cell of a result can be. */

/** A value as JSON has it. */
export type JsonValue = null | boolean | number | string | JsonValue[] | { [name: string]: JsonValue };

/**
 * A value of a row, by the type of its column:
 *
 * - `boolean` → boolean; `tinyint`, `smallint`, `integer`, `real`, `double` → number (NaN and the infinities included);
 * - `bigint` → number where it is safe, else bigint, or as the `bigint` option says;
 * - `varbinary` → Uint8Array; `array` → array; `map` → Map with decoded keys; `row` → array in field order;
 * - `decimal`, text, `json`, dates, times, intervals, `uuid` and the like → string, as sent;
 * - a type this client does not know → its JSON value, integers past 2^53 as bigint. NULL is null everywhere.
 */
export type Value =
  | null
  | boolean
  | number
  | bigint
  | string
  | Uint8Array
  | Value[]
  | Map<Value, Value>
  | { [name: string]: Value };

/**
 * What a `bigint` of Trino becomes: a number where it is safe and a bigint where it is not (`auto`), always a bigint, always its
 * digits (`string`), or always a number (`number`), which refuses a result that holds an unsafe one.
 */
export type BigintForm = 'auto' | 'bigint' | 'string' | 'number';
