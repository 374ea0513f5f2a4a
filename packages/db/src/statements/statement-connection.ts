import type { CompiledQuery, DatabaseConnection, QueryResult, SqliteDatabase } from 'kysely'
import type { ReadLimit } from '../port/read-limit.ts'
import { ReadStatement } from './read-statement.ts'

/** Runs statements on an SQLite connection. Each is done when the call returns, because better-sqlite3 is synchronous. */
export class StatementConnection implements DatabaseConnection {
  readonly #database: SqliteDatabase
  readonly #limit: ReadLimit | undefined

  constructor(database: SqliteDatabase, limit?: ReadLimit) {
    this.#database = database
    this.#limit = limit
  }

  run<Row>({ sql, parameters }: Pick<CompiledQuery, 'sql' | 'parameters'>): QueryResult<Row> {
    const statement = this.#database.prepare(sql)
    if (this.#limit !== undefined && statement instanceof ReadStatement) {
      return { rows: statement.allWithin(parameters, this.#limit) as Row[] }
    }
    if (statement.reader) return { rows: statement.all(parameters) as Row[] }
    const { changes, lastInsertRowid } = statement.run(parameters)
    return { numAffectedRows: BigInt(changes), insertId: BigInt(lastInsertRowid), rows: [] }
  }

  async executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    return this.run(query)
  }

  /** Returns the rows of a statement one by one. */
  rows({ sql, parameters }: Pick<CompiledQuery, 'sql' | 'parameters'>): IterableIterator<object> {
    return this.#database.prepare(sql).iterate(parameters) as IterableIterator<object>
  }

  async *streamQuery<Row>(query: CompiledQuery): AsyncGenerator<QueryResult<Row>> {
    for (const row of this.rows(query)) yield { rows: [row as Row] }
  }
}
