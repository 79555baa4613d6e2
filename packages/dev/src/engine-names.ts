import { z } from 'zod';
import { type SyntaxTree, walk } from './engine-syntax.js';

const item = z.object({
  class: z.string(),
  alias: z.string(),
  value: z.object({ is_null: z.boolean() }).optional(),
});
type Item = z.infer<typeof item>;

/** What the names of a result's columns can be told from: DuckDB's syntax tree of the statement. */
const selectNode = z.object({ type: z.literal('SELECT_NODE'), select_list: z.array(item) });
const setOperation = z.object({ type: z.literal('SET_OPERATION_NODE'), left: z.unknown() });
const tree = z.object({ statements: z.tuple([z.object({ node: z.unknown() })]) });

/** The names and, for a bare NULL, the type that Trino gives the columns of one statement. */
export interface ColumnNaming {
  name(index: number, count: number, duckName: string): string;
  isNullLiteral(index: number, count: number): boolean;
}

/**
 * How the columns of a query are to be named. Trino calls an expression without alias `_col0`, by its
 * place; DuckDB gives it the expression's own text, which would also carry literals of the statement on.
 */
export function columnNaming(syntax: SyntaxTree | undefined): ColumnNaming {
  const statement = tree.safeParse(syntax);
  const items = statement.success ? selectItems(statement.data.statements[0].node) : [];
  const aliases = collectAliases(syntax);
  return {
    name(index, count, duckName) {
      const chosen = itemAt(items, index, count);
      const named =
        chosen === undefined
          ? aliases.has(duckName) || isColumnName(duckName)
          : chosen.alias !== '' || chosen.class === 'COLUMN_REF';
      return named ? duckName : `_col${index}`;
    },
    isNullLiteral(index, count) {
      const chosen = itemAt(items, index, count);
      return chosen?.class === 'CONSTANT' && chosen.value?.is_null === true;
    },
  };
}

/** The names of a set operation are those of its first query. */
function selectItems(node: unknown): Item[] {
  const select = selectNode.safeParse(node);
  if (select.success) return select.data.select_list;
  const operation = setOperation.safeParse(node);
  return operation.success ? selectItems(operation.data.left) : [];
}

/** A `*` stands for any number of columns: items before the first are counted from the front, others from the end. */
function itemAt(items: Item[], index: number, count: number): Item | undefined {
  const isStar = (each: Item) => each.class === 'STAR';
  const first = items.findIndex(isStar);
  if (first < 0 || index < first) return items[index];
  const fromEnd = count - index;
  const last = items.findLastIndex(isStar);
  return fromEnd <= items.length - 1 - last ? items[items.length - fromEnd] : undefined;
}

/** A name that came through `*`: of a table, or DuckDB's own for an expression or a VALUES list inside. */
function isColumnName(name: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_ ]*$/.test(name) && !/^(?:col\d+|NULL)$/.test(name);
}

/** Every name that the statement itself gives: one that comes through `*` is kept as it is. */
function collectAliases(syntax: SyntaxTree | undefined): Set<string> {
  const aliases = new Set<string>();
  const add = (value: unknown) => {
    if (typeof value === 'string') aliases.add(value);
  };
  for (const node of walk(syntax)) {
    add(node.alias);
    for (const list of [node.column_name_alias, node.aliases]) {
      if (Array.isArray(list)) list.forEach(add);
    }
  }
  return aliases;
}
