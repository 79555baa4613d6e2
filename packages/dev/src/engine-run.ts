import { type DuckDBConnection, type DuckDBPreparedStatement, StatementType } from '@duckdb/node-api';
import type { EngineDatabase } from './engine-database.js';
import { guard, type Statement } from './engine-guard.js';
import type { EncodedResult } from './engine-message.js';
import { columnNaming } from './engine-names.js';
import { Refusal } from './engine-refusal.js';
import { readSyntax } from './engine-syntax.js';
import { TrinoRows } from './trino-rows.js';

/** Thrown when a result has more rows than asked for. */
export class RowCapExceeded extends Error {}

const interruptAgainMs = 20;

/** One statement on its way. */
export class QueryRun {
  readonly #database: EngineDatabase;
  #connection: DuckDBConnection | undefined;
  #cancelled = false;
  #interrupts: NodeJS.Timeout | undefined;

  constructor(database: EngineDatabase) {
    this.#database = database;
  }

  /**
   * Ends the statement. DuckDB forgets an interrupt that comes before execution has begun, so it is repeated
   * until the statement is over.
   */
  cancel(): void {
    this.#cancelled = true;
    this.#connection?.interrupt();
    this.#interrupts ??= setInterval(() => this.#connection?.interrupt(), interruptAgainMs);
  }

  /**
   * @throws {@link Refusal}, {@link RowCapExceeded}, or DuckDB's own error.
   */
  async run(sql: string, maxRows: number): Promise<EncodedResult> {
    try {
      const statement = guard(sql);
      await this.#database.prepareFor(statement.sql);
      const connection = await this.#database.connect();
      this.#connection = connection;
      this.#check();
      await connection.run('BEGIN TRANSACTION READ ONLY');
      return await this.#read(connection, statement, maxRows);
    } finally {
      clearInterval(this.#interrupts);
      await this.#connection?.run('ROLLBACK').catch(() => undefined);
      this.#connection?.closeSync();
      this.#connection = undefined;
    }
  }

  async #read(connection: DuckDBConnection, statement: Statement, maxRows: number): Promise<EncodedResult> {
    const isExplain = statement.explained !== undefined;
    // A SHOW is our own text, over catalog functions that nobody else may call.
    const syntax = statement.isOurs
      ? undefined
      : await readSyntax(connection, statement.explained ?? statement.sql);
    if (statement.explained !== undefined) {
      (await prepare(connection, statement.explained, StatementType.SELECT)).destroySync();
    }
    const prepared = await prepare(
      connection,
      statement.sql,
      isExplain ? StatementType.EXPLAIN : StatementType.SELECT,
    );
    const naming = columnNaming(syntax);
    this.#check();
    const result = await prepared.stream();
    const rows = new TrinoRows(result, isExplain ? 1 : 0);
    for (;;) {
      this.#check();
      const chunk = await result.fetchChunk();
      if (chunk === null || chunk.rowCount === 0) break;
      if (rows.rowCount + chunk.rowCount > maxRows) throw new RowCapExceeded();
      rows.add(chunk);
    }
    if (rows.rowCount === 0 && statement.whenEmpty !== undefined) throw new Refusal(statement.whenEmpty);
    const { types, rowsJson } = rows.finish();
    const columns = types.map((type, index) => ({
      // Trino's EXPLAIN has one column of this name; DuckDB's has the kind of plan before it.
      name: isExplain ? 'Query Plan' : naming.name(index, types.length, result.columnName(index)),
      type: naming.isNullLiteral(index, types.length) ? 'unknown' : type,
    }));
    return { columns, rowsJson, rowCount: rows.rowCount };
  }

  #check(): void {
    if (this.#cancelled) throw new Refusal('The statement was cancelled.');
  }
}

/** What DuckDB made of the text: one statement of the expected type, and nothing left to fill in. */
async function prepare(
  connection: DuckDBConnection,
  sql: string,
  expected: StatementType,
): Promise<DuckDBPreparedStatement> {
  const statements = await connection.extractStatements(sql);
  if (statements.count !== 1) throw new Refusal('Only one statement at a time is accepted.');
  const prepared = await statements.prepare(0);
  if (prepared.statementType !== expected) throw new Refusal('Only queries are accepted.');
  if (prepared.parameterCount !== 0)
    throw new Refusal('The statement has parameters: they have no values here.');
  return prepared;
}
