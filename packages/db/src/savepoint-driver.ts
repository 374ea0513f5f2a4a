import Sqlite from 'better-sqlite3'
import {
  type CompiledQuery,
  type DatabaseConnection,
  type QueryResult,
  type SqliteDialectConfig,
  SqliteDriver,
} from 'kysely'

/** A transaction of whoever writes is what lies between two savepoints of the one that is open on the connection. */
export class SavepointDriver extends SqliteDriver {
  readonly #database: Sqlite.Database
  /** By `performance.now()`: when the latest statement of a write was over. */
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
  #isOver = false

  constructor(driver: SavepointDriver, database: Sqlite.Database, shared: DatabaseConnection) {
    this.#driver = driver
    this.#database = database
    this.#shared = shared
  }

  begin(): void {
    this.#database.exec('savepoint a_write')
  }

  async executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    // Of statements asked for at once one may fail, which ends the write, and the others come when a neighbour has begun.
    if (this.#isOver) throw new Error('The write that this statement belongs to is over')
    // It would be committed by itself.
    if (!this.#database.inTransaction) throw writeAborted()
    try {
      // Over when it returns.
      return this.#shared.executeQuery(query)
    } finally {
      this.#driver.lastStatementMs = performance.now()
    }
  }

  // biome-ignore lint/correctness/useYield: the port wants a generator
  async *streamQuery<Row>(): AsyncGenerator<QueryResult<Row>> {
    throw new Error('A write cannot stream: until the last row is read the connection takes no other statement')
  }

  release(): void {
    this.#isOver = true
    if (!this.#database.inTransaction) throw writeAborted()
    this.#database.exec('release a_write')
  }

  rollBack(): void {
    this.#isOver = true
    if (this.#database.inTransaction) this.#database.exec('rollback to a_write; release a_write')
  }
}

/** The transaction is no more, and whoever wrote in it has to write again. */
export const writeAborted = (why = 'the database ended its transaction'): Error =>
  new Sqlite.SqliteError(`The write was given up: ${why}`, 'SQLITE_ABORT_ROLLBACK')
