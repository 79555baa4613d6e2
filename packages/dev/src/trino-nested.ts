import {
  DuckDBArrayValue,
  DuckDBListValue,
  DuckDBListVector,
  DuckDBMapValue,
  DuckDBStructValue,
  DuckDBStructVector,
  type DuckDBType,
  DuckDBTypeId,
} from '@duckdb/node-api';
import { Refusal } from './engine-refusal.js';
import { encodeAt, encodeNullable, type TrinoType } from './trino-encode.js';

/** An array: a JSON array. */
export function arrayType(item: TrinoType): TrinoType {
  return {
    name: `array(${item.name})`,
    encode(value) {
      if (!(value instanceof DuckDBListValue || value instanceof DuckDBArrayValue)) {
        throw new Refusal('An array could not be read.');
      }
      return `[${value.items.map((each) => encodeNullable(item, each)).join(',')}]`;
    },
    encodeAt(vector, index) {
      if (!(vector instanceof DuckDBListVector)) return encodeNullable(this, vector.getItem(index));
      const items = vector.getItemVector(index);
      if (items === null) return 'null';
      return `[${Array.from({ length: items.itemCount }, (_, at) => encodeAt(item, items, at)).join(',')}]`;
    },
  };
}

const unreadableKeys = new Set<DuckDBTypeId>([
  DuckDBTypeId.LIST,
  DuckDBTypeId.ARRAY,
  DuckDBTypeId.MAP,
  DuckDBTypeId.STRUCT,
]);

/** A map: a JSON object whose keys are the text of the key. Trino's text of an array or row key is no data. */
export function mapType(keyType: DuckDBType, key: TrinoType, value: TrinoType): TrinoType {
  return {
    name: `map(${key.name}, ${value.name})`,
    encode(map) {
      if (!(map instanceof DuckDBMapValue)) throw new Refusal('A map could not be read.');
      if (unreadableKeys.has(keyType.typeId)) {
        throw new Refusal('A map with array, map or row keys cannot be shown.');
      }
      const members = map.entries.map((entry) => {
        const text = encodeNullable(key, entry.key);
        return `${text.startsWith('"') ? text : JSON.stringify(text)}:${encodeNullable(value, entry.value)}`;
      });
      return `{${members.join(',')}}`;
    },
  };
}

/** A row: a JSON array in field order. */
export function rowType(names: readonly string[], types: readonly TrinoType[]): TrinoType {
  const fields = types.map((type, index) => {
    const name = names[index] ?? '';
    return name === '' ? type.name : `${fieldName(name)} ${type.name}`;
  });
  // The library reads a struct into an object, where fields without a name fall together.
  const distinct = new Set(names).size === names.length && !names.includes('__proto__');
  return {
    name: `row(${fields.join(', ')})`,
    encode(value) {
      if (!(value instanceof DuckDBStructValue) || !distinct) {
        throw new Refusal('A row without field names cannot be shown inside a map or a fixed-size array.');
      }
      const items = types.map((type, index) =>
        encodeNullable(type, value.entries[names[index] ?? ''] ?? null),
      );
      return `[${items.join(',')}]`;
    },
    encodeAt(vector, index) {
      if (!(vector instanceof DuckDBStructVector)) return encodeNullable(this, vector.getItem(index));
      if (!vector.isItemValid(index)) return 'null';
      return `[${types.map((type, field) => encodeAt(type, vector.entryVectorAt(field), index)).join(',')}]`;
    },
  };
}

/** Quoted when it is no plain lower-case identifier, as Trino writes it. */
function fieldName(name: string): string {
  return /^[a-z_][a-z0-9_]*$/.test(name) ? name : `"${name.replaceAll('"', '""')}"`;
}
