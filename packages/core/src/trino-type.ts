/** A type string, as a column carries it (Trino's `TypeSignature`) → its parts. */

/** A type of Trino, as far as reading its values needs it. Lengths and precisions are not kept. */
export type TrinoType =
  | { readonly kind: 'scalar'; readonly name: string }
  | { readonly kind: 'array'; readonly item: TrinoType }
  | { readonly kind: 'map'; readonly key: TrinoType; readonly value: TrinoType }
  | { readonly kind: 'row'; readonly fields: readonly RowField[] };

/** A field of a row type. Its name is undefined where the type gives none. */
export interface RowField {
  readonly name: string | undefined;
  readonly type: TrinoType;
}

// Deeper than any real type, and far from the end of the stack.
const DEEPEST = 100;

// A word, a quoted name with "" inside, or one of ( ) , — or anything else, which no type has.
const TOKEN = /\s*(?:([\p{L}\p{N}_]+)|"((?:[^"]|"")*)"|([(),]))\s*/uy;

interface Token {
  /** A bare word in lower case: types do not tell case apart. */
  readonly word?: string | undefined;
  /** What it says as a field name, case kept. */
  readonly name?: string | undefined;
  readonly sign?: string | undefined;
}

/** Reads a type string: letter case and spaces do not count, field names may be quoted. Undefined for what is not a type. */
export function parseTrinoType(text: string): TrinoType | undefined {
  const tokens = tokensOf(text);
  if (tokens === undefined) return undefined;
  const reader = new TypeReader(tokens);
  const type = reader.type(0);
  return type !== undefined && reader.atEnd() ? type : undefined;
}

function tokensOf(text: string): Token[] | undefined {
  const tokens: Token[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.length) {
    const match = TOKEN.exec(text);
    if (match === null) return undefined;
    const name = match[1] ?? match[2]?.replaceAll('""', '"');
    tokens.push({ word: match[1]?.toLowerCase(), name, sign: match[3] });
  }
  return tokens;
}

class TypeReader {
  readonly #tokens: readonly Token[];
  #at = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  atEnd(): boolean {
    return this.#at === this.#tokens.length;
  }

  type(depth: number): TrinoType | undefined {
    const name = this.#tokens[this.#at]?.word;
    if (name === undefined || depth > DEEPEST) return undefined;
    this.#at++;
    if (name === 'row') return this.#row(depth);
    if (name === 'array' || name === 'multiset' || name === 'map') return this.#collection(name, depth);
    if (name === 'interval') return this.#interval();
    if (this.#sign('(') && !this.#arguments(depth)) return undefined;
    if (name === 'double') this.#words('precision');
    if (name !== 'time' && name !== 'timestamp') return { kind: 'scalar', name };
    this.#words('without', 'time', 'zone');
    return { kind: 'scalar', name: this.#words('with', 'time', 'zone') ? `${name} with time zone` : name };
  }

  #row(depth: number): TrinoType | undefined {
    if (!this.#sign('(')) return undefined;
    const fields: RowField[] = [];
    do {
      const field = this.#field(depth);
      if (field === undefined) return undefined;
      fields.push(field);
    } while (this.#sign(','));
    return this.#sign(')') ? { kind: 'row', fields } : undefined;
  }

  // `row(double)` has a type only, `row(double double)` a name before it: a type is tried first.
  #field(depth: number): RowField | undefined {
    const start = this.#at;
    const unnamed = this.type(depth + 1);
    if (unnamed !== undefined && this.#atFieldEnd()) return { name: undefined, type: unnamed };
    this.#at = start + 1;
    const name = this.#tokens[start]?.name;
    const type = this.type(depth + 1);
    return name !== undefined && type !== undefined && this.#atFieldEnd() ? { name, type } : undefined;
  }

  #atFieldEnd(): boolean {
    const sign = this.#tokens[this.#at]?.sign;
    return sign === ',' || sign === ')';
  }

  #collection(name: string, depth: number): TrinoType | undefined {
    if (!this.#sign('(')) return undefined;
    const first = this.type(depth + 1);
    if (first === undefined) return undefined;
    if (name !== 'map') return this.#sign(')') ? { kind: 'array', item: first } : undefined;
    const value = this.#sign(',') ? this.type(depth + 1) : undefined;
    return value !== undefined && this.#sign(')') ? { kind: 'map', key: first, value } : undefined;
  }

  // `interval day to second`, and with precisions in the newest servers: `interval day(9) to second(6)`.
  #interval(): TrinoType | undefined {
    const from = this.#tokens[this.#at]?.word;
    if (!this.#words('year') && !this.#words('day')) return undefined;
    if (this.#sign('(') && !this.#arguments(0)) return undefined;
    if (!this.#words('to', from === 'year' ? 'month' : 'second')) return undefined;
    if (this.#sign('(') && !this.#arguments(0)) return undefined;
    return { kind: 'scalar', name: from === 'year' ? 'interval year to month' : 'interval day to second' };
  }

  // Numbers (`decimal(18, 4)`) or types (`qdigest(bigint)`), none of which changes how a value is read.
  #arguments(depth: number): boolean {
    do {
      if (this.type(depth + 1) === undefined) return false;
    } while (this.#sign(','));
    return this.#sign(')');
  }

  #sign(sign: string): boolean {
    if (this.#tokens[this.#at]?.sign !== sign) return false;
    this.#at++;
    return true;
  }

  #words(...words: string[]): boolean {
    if (!words.every((word, index) => this.#tokens[this.#at + index]?.word === word)) return false;
    this.#at += words.length;
    return true;
  }
}
