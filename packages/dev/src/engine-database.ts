import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { macros } from './engine-macros.js';
import { largeTables, smallTables, tableDefinitions } from './tpch.js';

/** The names whose first mention fills the large tables: DuckDB has no other spelling for them. */
const mention = /partsupp|orders|lineitem/i;

/** The in-memory database: made once, locked, then only read. */
export class EngineDatabase {
  readonly #instance: DuckDBInstance;
  #largeTables: Promise<void> | undefined;

  private constructor(instance: DuckDBInstance) {
    this.#instance = instance;
  }

  /**
   * Makes the database. After the last line nothing can reach a file, the network or another extension, and
   * no setting can be changed back.
   */
  static async open(): Promise<EngineDatabase> {
    const instance = await DuckDBInstance.create(':memory:', {
      allow_community_extensions: 'false',
      // A mistyped function name would otherwise ask the network for an extension.
      autoinstall_known_extensions: 'false',
      autoload_known_extensions: 'false',
      // As in Trino, 7/2 is 3.
      integer_division: 'true',
      memory_limit: '512MB',
      threads: '2',
    });
    const connection = await instance.connect();
    for (const macro of macros) await connection.run(`CREATE MACRO ${macro}`);
    await connection.run("ATTACH ':memory:' AS tpch; CREATE SCHEMA tpch.tiny");
    for (const definition of tableDefinitions) await connection.run(definition);
    for (const fill of smallTables) await connection.run(fill);
    await connection.run("SET GLOBAL TimeZone = 'UTC'");
    await connection.run("SET GLOBAL temp_directory = ''");
    await connection.run('SET GLOBAL enable_external_access = false');
    await connection.run('SET GLOBAL lock_configuration = true');
    connection.closeSync();
    return new EngineDatabase(instance);
  }

  /** A connection of its own: a second statement on one connection would interrupt the first. */
  connect(): Promise<DuckDBConnection> {
    return this.#instance.connect();
  }

  /** Fills what the statement may read. The large tables take about a second: not at every start. */
  async prepareFor(sql: string): Promise<void> {
    if (!mention.test(sql)) return;
    this.#largeTables ??= this.#fillLargeTables();
    await this.#largeTables;
  }

  async #fillLargeTables(): Promise<void> {
    const connection = await this.#instance.connect();
    await connection.run('BEGIN TRANSACTION');
    for (const fill of largeTables) await connection.run(fill);
    await connection.run('COMMIT');
    connection.closeSync();
  }
}
