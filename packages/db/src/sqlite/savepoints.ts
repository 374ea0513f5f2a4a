import Sqlite from 'better-sqlite3'
import {
  type CompiledQuery,
  type DatabaseConnection,
  type KyselyProps,
  type QueryResult,
  SingleConnectionProvider,
  Transaction,
} from 'kysely'
import { DirectExecutor, type SharedDialect } from '../port/direct-executor.ts'
import type { StatementConnection } from '../statements/statement-connection.ts'
import { StatementTurns } from './statement-turns.ts'

/** Runs each write in a savepoint of the transaction that is open on the connection. */
export class Savepoints<Tables> {
  readonly #database: Sqlite.Database
  readonly #connection: StatementConnection
  readonly #dialect: SharedDialect
  readonly #props: Omit<KyselyProps, 'executor'>
  readonly #turns = new StatementTurns()
  /** The time at which the latest statement of a write ended, by `performance.now()`. */
  lastStatementMs = 0

  /** @param connection runs statements on `database` */
  constructor(
    database: Sqlite.Database,
    connection: StatementConnection,
    dialect: SharedDialect,
    props: Omit<KyselyProps, 'executor'>,
  ) {
    this.#database = database
    this.#connection = connection
    this.#dialect = dialect
    this.#props = props
  }

  /** Runs `work`, and undoes its changes if it rejects. */
  async run<Result>(work: (tx: Transaction<Tables>) => Promise<Result>): Promise<Result> {
    const savepoint = new Savepoint(this, this.#database, this.#connection)
    const executor = new DirectExecutor(this.#dialect, new SingleConnectionProvider(savepoint), async (query) => {
      this.#turns.begin()
      const result = await savepoint.executeQuery(query)
      // After the statement and not before it, so that statements that are not awaited one by one keep their order.
      if (this.#turns.isDue()) await this.#turns.take()
      return result
    })
    this.#database.exec('savepoint a_write')
    try {
      const result = await work(new Transaction<Tables>({ ...this.#props, executor }))
      savepoint.release()
      return result
    } catch (error) {
      savepoint.rollBack()
      throw error
    }
  }
}

class Savepoint implements DatabaseConnection {
  readonly #savepoints: Pick<Savepoints<unknown>, 'lastStatementMs'>
  readonly #database: Sqlite.Database
  readonly #connection: StatementConnection
  #hasEnded = false

  constructor(
    savepoints: Pick<Savepoints<unknown>, 'lastStatementMs'>,
    database: Sqlite.Database,
    connection: StatementConnection,
  ) {
    this.#savepoints = savepoints
    this.#database = database
    this.#connection = connection
  }

  async executeQuery<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    // If one of several concurrent statements fails, the write ends, and the next write may have begun before the others run.
    if (this.#hasEnded) throw new Error('The write that this statement belongs to has ended')
    // Outside a transaction, the statement would be committed by itself.
    if (!this.#database.inTransaction) throw writeAborted()
    try {
      return this.#connection.run(query)
    } finally {
      this.#savepoints.lastStatementMs = performance.now()
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
