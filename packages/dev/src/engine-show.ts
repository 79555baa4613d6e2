import { refusal, type Token } from './engine-lexer.js';

interface ShowQuery {
  sql: string;
  whenEmpty?: string | undefined;
}

/**
 * Trino's SHOW CATALOGS, SCHEMAS, TABLES and COLUMNS as queries over the catalog, with Trino's column names.
 * `SHOW TABLES` and `SHOW SCHEMAS` without FROM mean `tpch.tiny` and `tpch`: the only ones there are.
 *
 * @throws Refusal for any other SHOW.
 */
export function rewriteShow(sql: string, tokens: Token[]): ShowQuery {
  let at = 2;
  const what = tokens[1]?.kind === 'word' ? tokens[1].text.toUpperCase() : '';
  const takeWord = (...words: string[]): boolean => {
    const token = tokens[at];
    const found = token?.kind === 'word' && words.includes(token.text.toUpperCase());
    if (found) at++;
    return found;
  };
  const fail = () =>
    refusal(
      sql,
      tokens[at]?.start ?? sql.length,
      'only SHOW CATALOGS, SCHEMAS, TABLES and COLUMNS are known',
    );
  const takeName = (): string[] => {
    const parts: string[] = [];
    do {
      const token = tokens[at++];
      if (token?.kind === 'word') parts.push(token.text.toLowerCase());
      else if (token?.kind === 'quoted')
        parts.push(token.text.slice(1, -1).replaceAll('""', '"').toLowerCase());
      else throw fail();
    } while (tokens[at]?.text === '.' && at++ > 0);
    return parts;
  };
  const name = what !== 'CATALOGS' && takeWord('FROM', 'IN') ? takeName() : [];
  const like = takeWord('LIKE') ? takeString() : undefined;
  const escapeCharacter = like !== undefined && takeWord('ESCAPE') ? takeString() : undefined;
  function takeString(): string {
    const token = tokens[at++];
    if (token?.kind !== 'string') throw fail();
    return token.text;
  }
  if (at < tokens.length) throw fail();
  const matching = (column: string) =>
    like === undefined
      ? ''
      : ` AND ${column} LIKE ${like}${escapeCharacter === undefined ? '' : ` ESCAPE ${escapeCharacter}`}`;

  if (what === 'CATALOGS') {
    return {
      sql: `SELECT database_name AS "Catalog" FROM duckdb_databases() WHERE NOT internal AND database_name <> 'memory'${matching('database_name')} ORDER BY 1`,
    };
  }
  if (what === 'SCHEMAS' && name.length <= 1) {
    const [catalog = 'tpch'] = name;
    return {
      sql: `SELECT schema_name AS "Schema" FROM duckdb_schemas() WHERE database_name = ${literal(catalog)} AND schema_name NOT IN ('main', 'pg_catalog')${matching('schema_name')} ORDER BY 1`,
      whenEmpty: like === undefined ? `Catalog '${catalog}' not found` : undefined,
    };
  }
  if (what === 'TABLES' && (name.length === 0 || name.length === 2)) {
    const [catalog = 'tpch', schema = 'tiny'] = name;
    return {
      sql: `SELECT table_name AS "Table" FROM duckdb_tables() WHERE database_name = ${literal(catalog)} AND schema_name = ${literal(schema)}${matching('table_name')} ORDER BY 1`,
      whenEmpty: like === undefined ? `Schema '${catalog}.${schema}' not found` : undefined,
    };
  }
  if (what === 'COLUMNS' && name.length === 3) {
    const [catalog = '', schema = '', table = ''] = name;
    return {
      sql: `SELECT column_name AS "Column", lower(data_type) AS "Type", '' AS "Extra", '' AS "Comment" FROM duckdb_columns() WHERE database_name = ${literal(catalog)} AND schema_name = ${literal(schema)} AND table_name = ${literal(table)}${matching('column_name')} ORDER BY column_index`,
      whenEmpty: like === undefined ? `Table '${catalog}.${schema}.${table}' does not exist` : undefined,
    };
  }
  at = 1;
  throw fail();
}

function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
