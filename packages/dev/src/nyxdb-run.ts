import {
  BIGINT,
  BOOLEAN,
  DATE,
  DOUBLE,
  type DuckDBConnection,
  DuckDBDateValue,
  DuckDBInstance,
  type DuckDBPreparedStatement,
  DuckDBTimestampValue,
  type DuckDBValue,
  StatementType,
  TIMESTAMP,
  VARCHAR,
} from '@duckdb/node-api';
import { Refusal } from './engine-refusal.js';
import { RowCapExceeded } from './engine-run.js';
import type { Binding, Question, Table } from './nyxdb-message.js';
import { encodeAt } from './trino-encode.js';
import { trinoType } from './trino-type.js';

const interruptAgainMs = 20;

const duckTypes = { VARCHAR, BIGINT, DOUBLE, BOOLEAN, DATE, TIMESTAMP };

const nothing: Table = { columns: [], rows: [] };

/** Makes the empty in-memory database; nothing in it can reach a file, the network or another extension. */
export async function openDatabase(): Promise<DuckDBInstance> {
  const instance = await DuckDBInstance.create(':memory:', {
    allow_community_extensions: 'false',
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
    memory_limit: '512MB',
    threads: '2',
  });
  const connection = await instance.connect();
  await connection.run("SET GLOBAL TimeZone = 'UTC'");
  await connection.run("SET GLOBAL temp_directory = ''");
  await connection.run('SET GLOBAL enable_external_access = false');
  await connection.run('SET GLOBAL lock_configuration = true');
  connection.closeSync();
  return instance;
}

/** One question on its way. */
export class Run {
  readonly #instance: DuckDBInstance;
  #connection: DuckDBConnection | undefined;
  #cancelled = false;
  #interrupts: NodeJS.Timeout | undefined;

  constructor(instance: DuckDBInstance) {
    this.#instance = instance;
  }

  /** DuckDB forgets an interrupt that comes before execution has begun, so it is repeated until the end. */
  cancel(): void {
    this.#cancelled = true;
    this.#connection?.interrupt();
    this.#interrupts ??= setInterval(() => this.#connection?.interrupt(), interruptAgainMs);
  }

  /** @throws {@link Refusal}, {@link RowCapExceeded}, or DuckDB's own error. */
  async answer(question: Question): Promise<Table> {
    try {
      const connection = await this.#instance.connect();
      this.#connection = connection;
      this.#goOn();
      if (question.kind === 'write') return await write(connection, question.sql);
      const prepared = await prepare(connection, question.sql);
      const names = parameterNames(prepared);
      if (question.kind === 'check') {
        const unknown = names.find((name) => !question.parameters.includes(name));
        if (unknown !== undefined) throw new Refusal(`$${unknown} is neither a parameter nor a claim.`);
        return nothing;
      }
      // A declared parameter that the statement does not mention has no place to be bound to.
      const used = question.bindings.filter(({ name }) => names.includes(name));
      prepared.bind(
        Object.fromEntries(used.map((binding) => [binding.name, duckValue(binding)])),
        // Otherwise 5.0 would be bound as an integer.
        Object.fromEntries(used.map(({ name, type }) => [name, duckTypes[type]])),
      );
      return await this.#read(prepared, question.maxRows);
    } finally {
      clearInterval(this.#interrupts);
      this.#connection?.closeSync();
      this.#connection = undefined;
    }
  }

  async #read(prepared: DuckDBPreparedStatement, maxRows: number): Promise<Table> {
    const result = await prepared.stream();
    const types = result.columnTypes().map(trinoType);
    const rows: string[][] = [];
    for (;;) {
      this.#goOn();
      const chunk = await result.fetchChunk();
      if (chunk === null || chunk.rowCount === 0) break;
      if (rows.length + chunk.rowCount > maxRows) throw new RowCapExceeded();
      const vectors = types.map((type, index) => ({ type, vector: chunk.getColumnVector(index) }));
      for (let row = 0; row < chunk.rowCount; row++)
        rows.push(vectors.map(({ type, vector }) => cellOf(encodeAt(type, vector, row))));
    }
    return { columns: result.columnNames(), rows };
  }

  #goOn(): void {
    if (this.#cancelled) throw new Refusal('The statement was cancelled.');
  }
}

/** All statements, or none of them. */
async function write(connection: DuckDBConnection, sql: string): Promise<Table> {
  await connection.run('BEGIN TRANSACTION');
  try {
    await connection.run(sql);
    await connection.run('COMMIT');
  } catch (error) {
    await connection.run('ROLLBACK').catch(() => undefined);
    throw error;
  }
  return nothing;
}

async function prepare(connection: DuckDBConnection, sql: string): Promise<DuckDBPreparedStatement> {
  const statements = await connection.extractStatements(sql);
  if (statements.count !== 1) throw new Refusal('It must be one statement.');
  const prepared = await statements.prepare(0);
  if (prepared.statementType !== StatementType.SELECT) throw new Refusal('It must be a SELECT.');
  return prepared;
}

const parameterNames = (prepared: DuckDBPreparedStatement): string[] =>
  Array.from({ length: prepared.parameterCount }, (_, index) => prepared.parameterName(index + 1));

function duckValue({ type, text }: Binding): DuckDBValue {
  switch (type) {
    case 'VARCHAR':
      return text;
    case 'BIGINT':
      return BigInt(text);
    case 'DOUBLE':
      return Number(text);
    case 'BOOLEAN':
      return text === 'true';
    case 'DATE':
      return new DuckDBDateValue(Date.parse(`${text}T00:00:00Z`) / 86_400_000);
    case 'TIMESTAMP':
      return new DuckDBTimestampValue(BigInt(Date.parse(`${text.replace(' ', 'T')}Z`)) * 1_000n);
  }
}

/** The broker's form of a value, without JSON's quotes: numbers are never rounded on the way. */
function cellOf(json: string): string {
  if (json === 'null') return '';
  return json.startsWith('"') ? String(JSON.parse(json)) : json;
}
