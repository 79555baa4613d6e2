/** The `sql` tag: SQL text whose values are literals, and never anything else. */

import {
  dateLiteral,
  decimalLiteral,
  type LikePosition,
  likeLiteral,
  quoteName,
  requireText,
  timestampLiteral,
} from './sql-literal.js';
import { joinFragment, joinText, joinValue } from './sql-seam.js';
import { checkedTemplate, requireWhole } from './sql-template.js';
import { literalsOf, type PlainSqlValue, valueLiteral } from './sql-value.js';
import { parseTrinoType } from './trino-type.js';

/** What may stand in a placeholder of the {@link sql} tag, or in an array there. */
export type SqlValue = PlainSqlValue<Sql>;

// Trino's own limit, `query.max-length`.
const MAX_CHARACTERS = 1_000_000;

// The class is known to callers; only this file makes values of it.
const MAKE = Symbol('make');

let readText: (value: Sql) => string;

/**
 * SQL made by the {@link sql} tag or one of its helpers. Its text is shown to nobody: not by `inspect`, `toString` or JSON. It is known by
 * a private member, so nothing that came in as data can pass for it.
 */
export class Sql {
  readonly #text: string;

  /** Only the tag and its helpers make SQL. @throws TypeError for anybody else. */
  constructor(key: symbol, text: string) {
    if (key !== MAKE) throw new TypeError('SQL is made by the sql tag and its helpers');
    if (text.length > MAX_CHARACTERS) throw new TypeError('SQL longer than 1,000,000 characters');
    this.#text = text;
  }

  /** Whether a value is SQL of this class, whatever its prototype says. */
  static is(value: unknown): value is Sql {
    return typeof value === 'object' && value !== null && #text in value;
  }

  /** `[sql]`, never the text. */
  toString(): string {
    return '[sql]';
  }

  /** `[sql]`, never the text. */
  toJSON(): string {
    return '[sql]';
  }

  static {
    readText = (value) => value.#text;
  }
}

const make = (text: string): Sql => new Sql(MAKE, text);

/** The text to send: of SQL by the tag, or a plain string as it is. What is neither comes back as it came, for the caller to refuse. */
export function sqlText(value: string | Sql): string {
  return Sql.is(value) ? readText(value) : value;
}

const fragmentText = (value: unknown): string | undefined => (Sql.is(value) ? readText(value) : undefined);

function tag(strings: TemplateStringsArray, ...values: readonly SqlValue[]): Sql {
  const parts = checkedTemplate(strings);
  const text = values.reduce<string>((before, value, index) => {
    const next = parts[index + 1] ?? '';
    const fragment = fragmentText(value);
    return fragment === undefined
      ? joinText(joinValue(before, valueLiteral(value, fragmentText)), next, true)
      : joinText(joinFragment(before, fragment), next, false);
  }, parts[0] ?? '');
  return make(text);
}

/** The {@link sql} tag and its helpers. */
export interface SqlTag {
  /**
   * SQL with values: each placeholder becomes one literal of Trino, whatever the value holds. Another `sql` value is spliced in.
   *
   * Text is a varchar, a safe integer its digits, any other number a double, a bigint a bigint or decimal, a Date a time stamp with
   * time zone in UTC, a Uint8Array a varbinary, an array an ARRAY, null NULL.
   *
   * @throws TypeError for a call that is not a tag, a placeholder inside quotes or a comment, a text that ends inside one, a backslash
   * escape in the text other than of a backslash, a backtick or a dollar sign, and a value that has no literal: undefined, a function, a symbol, an object,
   * an empty array, an array with holes, an invalid Date, an integer number past 2^53 − 1.
   */
  (strings: TemplateStringsArray, ...values: readonly SqlValue[]): Sql;
  /** A name, or names joined by dots, each quoted: `sql.id('tpch', 'tiny', 'nation')`. @throws TypeError for none, an empty one, or no string. */
  id(...names: readonly string[]): Sql;
  /** Values for `IN (…)`, without the brackets. @throws TypeError for an empty array: `IN ()` is no SQL, and `NOT IN (NULL)` is never true. */
  list(values: readonly SqlValue[]): Sql;
  /**
   * The right side of a LIKE that matches a text as it is, its `%`, `_` and `\` included.
   *
   * @param position where the text may stand: the `whole` of it (default), its `start`, its `end`, or `anywhere`.
   * @throws TypeError for anything but a string.
   */
  like(text: string, position?: LikePosition | undefined): Sql;
  /** `DATE '…'` of a text such as `2020-02-29`. @throws TypeError for what is not a day of the years 1 to 9999. */
  date(text: string): Sql;
  /** `TIMESTAMP '…'`, without zone, of a text such as `2020-02-29 23:59:59.999`. @throws TypeError for any other form. */
  timestamp(text: string): Sql;
  /** An exact decimal of a text such as `12345678901234567890.1`, with its own precision and scale. @throws TypeError for any other form, or past 38 digits. */
  decimal(text: string): Sql;
  /** An empty array, whose item type nothing else could tell: `sql.emptyArray('bigint')`. @throws TypeError for what is not a type. */
  emptyArray(type: string): Sql;
  /** SQL as it is. Whoever can choose any of it can read all that the person can. @throws TypeError for a text that ends inside quotes or a comment. */
  unsafe(text: string): Sql;
}

/** SQL with values that cannot break out of it. See {@link SqlTag}. */
export const sql: SqlTag = Object.freeze(
  Object.assign(tag, {
    id(...names: readonly string[]): Sql {
      if (names.length === 0) throw new TypeError('sql.id takes at least one name');
      return make(names.map(quoteName).join('.'));
    },
    list(values: readonly SqlValue[]): Sql {
      if (!Array.isArray(values)) throw new TypeError('sql.list takes an array');
      return make(literalsOf(values, fragmentText, 'sql.list'));
    },
    like(text: string, position: LikePosition | undefined = 'whole'): Sql {
      return make(likeLiteral(text, position));
    },
    date: (text: string): Sql => make(dateLiteral(text)),
    timestamp: (text: string): Sql => make(timestampLiteral(text)),
    decimal: (text: string): Sql => make(decimalLiteral(text)),
    emptyArray(type: string): Sql {
      if (typeof type !== 'string' || parseTrinoType(type) === undefined) {
        throw new TypeError('sql.emptyArray takes a type such as bigint');
      }
      // A quoted field name of a row type may hold anything.
      requireText(type);
      return make(`CAST(ARRAY[] AS array(${type}))`);
    },
    unsafe(text: string): Sql {
      if (typeof text !== 'string') throw new TypeError('sql.unsafe takes a string');
      requireWhole(text);
      return make(text);
    },
  }),
);
