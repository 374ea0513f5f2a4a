import { existsSync } from 'node:fs'
import Sqlite from 'better-sqlite3'
import {
  type CompiledQuery,
  type DatabaseConnection,
  DefaultConnectionProvider,
  type Driver,
  Kysely,
  type LimitNode,
  type QueryCompiler,
  type QueryResult,
  type SqliteDatabase,
  SqliteDialect,
  SqliteQueryCompiler,
  ValueNode,
} from 'kysely'
import type { Db } from '../port/db.ts'
import { DirectExecutor } from '../port/direct-executor.ts'
import type { ReadScope } from '../port/read-limit.ts'
import { SEARCH_BUDGET_MS, SearchBudget } from '../search/search-budget.ts'
import { addSearchFunctions } from '../search/search-functions.ts'
import { type Searches, searchesInThreads, searchesOn } from '../search/searches.ts'
import { searchLane } from '../search/text-condition.ts'
import { withStatementCache } from '../statements/statement-cache.ts'
import { StatementConnection } from '../statements/statement-connection.ts'
import { Checkpoints } from './checkpoints.ts'
import { GroupedWrites } from './grouped-writes.ts'
import { isBusy } from './is-busy.ts'
import { Savepoints } from './savepoints.ts'
import { StatementTurns } from './statement-turns.ts'

export interface SqliteOptions {
  /** Lets `reclaim` shrink the file. Takes effect only when the file has no tables yet. */
  readonly reclaimable?: boolean
  /**
   * Selects what a committed write survives: a power failure (the default), or only a crash of the process. The latter does
   * not wait for the disk, which matters if writes run on an event loop that also serves traffic.
   */
  readonly survives?: 'power-loss' | 'process-loss'
  /** Copies committed pages into the file in a thread when there are many commits, see `Checkpoints`. */
  readonly checkpointsInThread?: boolean
  /**
   * Runs statements with `textCondition` in threads, which start when they are first used. Otherwise they block the event loop
   * until they have used their budget.
   */
  readonly searchesInThreads?: boolean
  /** How long a statement with `textCondition` may take. */
  readonly searchBudgetMs?: number
  /** How long a write may run no statement before it is aborted. */
  readonly idleLimitMs?: number
}

export interface SqliteDb<Tables> extends Db<Tables> {
  /**
   * Returns up to `maxPages` unused pages to the file system, between two groups of writes. Does nothing unless the file was
   * created as `reclaimable`.
   */
  reclaim(maxPages: number): Promise<void>
}

const BUSY_TIMEOUT_MS = 5_000
const IDLE_LIMIT_MS = 30_000
const WAL_TRIES = 200
const WAL_DELAY_MS = 5

/**
 * Opens or creates an SQLite file.
 *
 * Writers queue on a separate connection: better-sqlite3 is synchronous, so on a shared connection the statements of other
 * callers would run inside an open transaction and be lost if it rolls back. Processes take turns too: a writer that waits
 * longer than 5 s for another process fails with `SQLITE_BUSY`.
 */
export function openSqlite<Tables>(
  file: string,
  {
    reclaimable = false,
    survives = 'power-loss',
    checkpointsInThread = false,
    searchesInThreads: hasSearchThreads = false,
    searchBudgetMs = SEARCH_BUDGET_MS,
    idleLimitMs = IDLE_LIMIT_MS,
  }: SqliteOptions = {},
): SqliteDb<Tables> {
  const writing = open(file)
  // Must precede the change of the journal mode, which writes the first page; auto_vacuum cannot be set after that.
  if (reclaimable) writing.pragma('auto_vacuum = INCREMENTAL')
  useWriteAheadLog(writing)
  writing.pragma(`synchronous = ${survives === 'power-loss' ? 'FULL' : 'NORMAL'}`)
  writing.pragma('foreign_keys = ON')
  writing.pragma('busy_timeout = 0')
  const budget = new SearchBudget(searchBudgetMs)
  const reading = open(file, budget)
  reading.pragma('query_only = ON')
  const schema = { changes: 0 }
  const dialect = new LiteralLimitDialect({ database: writing })
  const shared = { adapter: dialect.createAdapter(), compiler: dialect.createQueryCompiler() }
  const cached = withStatementCache(reading, schema)
  const searches = hasSearchThreads ? searchesInThreads({ file, budgetMs: searchBudgetMs }) : searchesOn(cached, budget)
  const turns = new StatementTurns()
  const reader = (scope: ReadScope = {}) => {
    const driver = new SharedReadDriver(cached, turns, searches, scope)
    const provider = new DefaultConnectionProvider(driver)
    const executor = new DirectExecutor(shared, provider, (query) => driver.run(query))
    return { props: { config: { dialect }, dialect, driver }, executor }
  }
  const { props, executor } = reader()
  const read = new Kysely<Tables>({ ...props, executor })
  const connection = new StatementConnection(withStatementCache(writing, schema))
  const savepoints = new Savepoints<Tables>(writing, connection, shared, props)
  const checkpoints = checkpointsInThread ? new Checkpoints(file, writing) : undefined
  const writes = new GroupedWrites(writing, savepoints, idleLimitMs, () => checkpoints?.noteCommit())
  return {
    read,
    readWithin: (limit, subscriber) => {
      const limited = reader({ limit, subscriber })
      return new Kysely<Tables>({ ...limited.props, executor: limited.executor })
    },
    write: (work, options) => writes.write(work, options),
    reclaim(maxPages) {
      // Kysely would step a statement without columns only once, but this pragma frees one page per step.
      const statements = `pragma incremental_vacuum(${maxPages}); pragma wal_checkpoint(truncate)`
      return writes.runExclusive(() => void writing.exec(statements))
    },
    async close() {
      await writes.drain()
      await checkpoints?.close()
      await searches.close()
      await read.destroy()
      writing.close()
    },
  }
}

function open(file: string, budget?: SearchBudget): Sqlite.Database {
  const database = new Sqlite(file, { timeout: BUSY_TIMEOUT_MS })
  addSearchFunctions(database, budget)
  return database
}

export interface ReadOnlyOptions {
  /** The memory for pages of an SQLite file that queries read again. SQLite's own default is 16 MB. */
  readonly cacheBytes?: number
}

/**
 * Opens an existing SQLite file for reading only. Neither the file nor the files beside it change.
 *
 * @throws SqliteError if the file does not exist
 */
export function openSqliteReadOnly<Tables>(
  file: string,
  { cacheBytes }: ReadOnlyOptions = {},
): Pick<Db<Tables>, 'read' | 'close'> {
  // Without a write-ahead log, SQLite creates one even for reading. Only a connection that may write removes it again.
  const database = new Sqlite(file, {
    readonly: existsSync(`${file}-wal`),
    fileMustExist: true,
    timeout: BUSY_TIMEOUT_MS,
  })
  database.pragma('query_only = ON')
  // A negative number is in KiB; a positive one would be in pages.
  if (cacheBytes !== undefined) database.pragma(`cache_size = ${-Math.round(cacheBytes / 1024)}`)
  const read = new Kysely<Tables>({ dialect: new LiteralLimitDialect({ database: withStatementCache(database) }) })
  return { read, close: () => read.destroy() }
}

/**
 * Switches to the write-ahead log, with retries: if two processes create the file at the same time, SQLite lets one change
 * the mode and fails the other immediately, in spite of the timeout.
 */
function useWriteAheadLog(database: Sqlite.Database): void {
  for (let tries = 1; ; tries += 1) {
    try {
      database.pragma('journal_mode = WAL')
      return
    } catch (error) {
      if (!isBusy(error) || tries === WAL_TRIES) throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, WAL_DELAY_MS)
    }
  }
}

class LiteralLimitDialect extends SqliteDialect {
  override createQueryCompiler(): QueryCompiler {
    return new LiteralLimitCompiler()
  }
}

/** Writes limits as literals. If a limit is a parameter, SQLite prepares the statement again for every value. */
class LiteralLimitCompiler extends SqliteQueryCompiler {
  protected override visitLimit(node: LimitNode): void {
    const { limit } = node
    if (ValueNode.is(limit) && Number.isSafeInteger(limit.value)) this.append(`limit ${limit.value}`)
    else super.visitLimit(node)
  }
}

/**
 * Lets all readers share one connection without a queue. A query is done before any other code runs, so readers never
 * conflict; they only yield to the event loop from time to time. Kysely's own queue wakes every waiting reader after each
 * query, which costs more than the queries if there are many readers.
 */
class SharedReadDriver implements Driver {
  readonly #database: SqliteDatabase
  readonly #connection: StatementConnection
  readonly #turns: StatementTurns
  readonly #searches: Searches
  readonly #scope: ReadScope

  constructor(database: SqliteDatabase, turns: StatementTurns, searches: Searches, scope: ReadScope) {
    this.#database = database
    this.#connection = new StatementConnection(database, scope.limit)
    this.#turns = turns
    this.#searches = searches
    this.#scope = scope
  }

  async run<Row>(query: CompiledQuery): Promise<QueryResult<Row>> {
    if (this.#turns.isDue()) await this.#turns.take()
    const lane = searchLane(query.sql)
    return lane === undefined ? this.#connection.run(query) : this.#searches.run(query, lane, this.#scope)
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<DatabaseConnection> {
    await this.#turns.take()
    return {
      executeQuery: (query) => this.run(query),
      streamQuery: (query) => this.#connection.streamQuery(query),
    }
  }

  async releaseConnection(): Promise<void> {}

  beginTransaction(): Promise<void> {
    return refuseTransaction()
  }

  commitTransaction(): Promise<void> {
    return refuseTransaction()
  }

  rollbackTransaction(): Promise<void> {
    return refuseTransaction()
  }

  async destroy(): Promise<void> {
    this.#database.close()
  }
}

async function refuseTransaction(): Promise<never> {
  throw new Error('Reading has no transactions: other readers share the connection')
}

/** The codes of errors in a query or its values. Other codes are errors of the database. */
const queryErrorCodes = /^SQLITE_(?:CONSTRAINT|ERROR|MISMATCH|RANGE|TOOBIG|AUTH|MISUSE)/

/** Returns whether the database is locked for too long, out of space, or unreadable. */
export const isSqliteUnavailable = (error: unknown): boolean =>
  error instanceof Sqlite.SqliteError && !queryErrorCodes.test(error.code)

/** Returns whether a foreign key has no row to refer to. */
export const isSqliteBrokenReference = (error: unknown): boolean =>
  error instanceof Sqlite.SqliteError && error.code === 'SQLITE_CONSTRAINT_FOREIGNKEY'
