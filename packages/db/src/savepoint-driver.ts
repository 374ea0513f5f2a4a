import Sqlite from 'better-sqlite3'
import {
  type CompiledQuery,
  type DatabaseConnection,
  type QueryResult,
  type SqliteDialectConfig,
  SqliteDriver,
} from 'kysely'

/** Maps each Kysely transaction to a savepoint of the transaction that is open on the connection. */
export class SavepointDriver extends SqliteDriver {
  readonly #database: Sqlite.Database
  /** The time at which the latest statement of a write ended, by `performance.now()`. */
  lastStatementMs = 0
  #shared: DatabaseConnection | undefined

  constructor(config: SqliteDialectConfig, database: Sqlite.Database) {
    super(config)
    this.#database = database
  }

  override async init(): Promise<void> {
    await super.init()
    this.#shared = await super.acquireConnection()
  }

  override async acquireConnection(): Promise<DatabaseConnection> {
    return new Savepoint(this, this.#database, this.#shared!)
  }

  override async releaseConnection(): Promise<void> {}

  override async beginTransaction(savepoint: Savepoint): Promise<void> {
    savepoint.begin()
  }

  override async commitTransaction(savepoint: Savepoint): Promise<void> {
    savepoint.release()
  }

  override async rollbackTransaction(savepoint: Savepoint): Promise<void> {
    savepoint.rollBack()
  }
}

class Savepoint implements DatabaseConnection {
  readonly #driver: SavepointDriver
  readonly #database: Sqlite.Database
  readonly #shared: DatabaseConnection
  #hasEnded = false

  constructor(driver: SavepointDriver, database: Sqlite.Database, shared: DatabaseConnection) {
    this.#driver = driver
    this.#database = database
    this.#shared = shared
  }

  begin(): void {
    this.#database.exec('savepoint a_write')
  }

  async executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    // If one of several concurrent statements fails, the write ends, and the next write may have begun before the others run.
    if (this.#hasEnded) throw new Error('The write that this statement belongs to has ended')
    // Outside a transaction, the statement would be committed by itself.
    if (!this.#database.inTransaction) throw writeAborted()
    try {
      // better-sqlite3 is synchronous: the statement is done when this call returns.
      return this.#shared.executeQuery(query)
    } finally {
      this.#driver.lastStatementMs = performance.now()
    }
  }

  // biome-ignore lint/correctness/useYield: the interface requires a generator
  async *streamQuery<Row>(): AsyncGenerator<QueryResult<Row>> {
    throw new Error('A write cannot stream: the connection runs no other statement until the last row is read')
  }

  release(): void {
    this.#hasEnded = true
    if (!this.#database.inTransaction) throw writeAborted()
    this.#database.exec('release a_write')
  }

  rollBack(): void {
    this.#hasEnded = true
    if (this.#database.inTransaction) this.#database.exec('rollback to a_write; release a_write')
  }
}

/** Returns the error for a write in a transaction that was rolled back; the caller has to repeat the write. */
export const writeAborted = (why = 'the database ended its transaction'): Error =>
  new Sqlite.SqliteError(`The write was aborted: ${why}`, 'SQLITE_ABORT_ROLLBACK')
