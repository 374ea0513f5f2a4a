import { existsSync } from 'node:fs'
import { setImmediate as nextTurn } from 'node:timers/promises'
import Sqlite from 'better-sqlite3'
import {
  type DatabaseConnection,
  type Driver,
  Kysely,
  type LimitNode,
  type QueryCompiler,
  SqliteDialect,
  type SqliteDialectConfig,
  SqliteDriver,
  SqliteQueryCompiler,
  ValueNode,
} from 'kysely'
import type { Db } from './db.ts'
import { folded } from './folded-text.ts'
import { GroupedWrites, isBusy } from './grouped-writes.ts'
import { withStatementCache } from './statement-cache.ts'
import { SavepointDriver } from './savepoint-driver.ts'

export interface SqliteOptions {
  /** Lets `reclaim` shrink the file. Only a file without tables takes it on. */
  readonly reclaimable?: boolean
  /**
   * What a committed write survives: the loss of power (the default), or only that of the process. The latter waits for
   * no disk, which for whoever writes on the event loop of a data path is a wait of everyone.
   */
  readonly survives?: 'power-loss' | 'process-loss'
  /** How long a write may ask nothing of the database; one that asks nothing for longer is given up. */
  readonly idleLimitMs?: number
}

export interface SqliteDb<Tables> extends Db<Tables> {
  /**
   * Gives up to `maxPages` pages that hold nothing back to the file system, between two groups of writes. Of a file
   * that was not made `reclaimable` it gives nothing back.
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
 * Writers queue on a connection of their own: better-sqlite3 is synchronous, so on a shared one the statements of a
 * neighbour would land inside an open transaction and vanish with its rollback. Writers of other processes take turns
 * too: one that does not get its turn within 5 s fails with `SQLITE_BUSY`.
 */
export function openSqlite<Tables>(
  file: string,
  { reclaimable = false, survives = 'power-loss', idleLimitMs = IDLE_LIMIT_MS }: SqliteOptions = {},
): SqliteDb<Tables> {
  const writing = open(file)
  // The change of the journal's mode writes the first page, and what that page does not say cannot be said later.
  if (reclaimable) writing.pragma('auto_vacuum = INCREMENTAL')
  useWriteAheadLog(writing)
  writing.pragma(`synchronous = ${survives === 'power-loss' ? 'FULL' : 'NORMAL'}`)
  writing.pragma('foreign_keys = ON')
  writing.pragma('busy_timeout = 0')
  const reading = open(file)
  reading.pragma('query_only = ON')
  const config = { database: withStatementCache(writing) }
  const driver = new SavepointDriver(config, writing)
  const writer = new Kysely<Tables>({ dialect: new DrivenDialect(config, () => driver) })
  const read = new Kysely<Tables>({
    dialect: new DrivenDialect({ database: withStatementCache(reading) }, (config) => new ReadingDriver(config)),
  })
  const writes = new GroupedWrites(writing, writer, driver, idleLimitMs)
  return {
    read,
    write: (work, options) => writes.write(work, options),
    reclaim(maxPages) {
      // Not through Kysely: the pragma gives back one page per step, and a statement without columns is stepped once.
      const statements = `pragma incremental_vacuum(${maxPages}); pragma wal_checkpoint(truncate)`
      return writes.runExclusive(() => void writing.exec(statements))
    },
    async close() {
      await writes.drain()
      await read.destroy()
      await writer.destroy()
    },
  }
}

const open = (file: string) =>
  new Sqlite(file, { timeout: BUSY_TIMEOUT_MS }).function('folded', { deterministic: true }, (text) =>
    typeof text === 'string' ? folded(text) : text,
  )

/**
 * To look only, at a file that is there: nothing in it changes, nor beside it.
 *
 * @throws SqliteError when there is none
 */
export function openSqliteReadOnly<Tables>(file: string): Pick<Db<Tables>, 'read' | 'close'> {
  // Where nobody has it open there is no log. SQLite makes one to read, and only one who might write takes it away again.
  const database = new Sqlite(file, {
    readonly: existsSync(`${file}-wal`),
    fileMustExist: true,
    timeout: BUSY_TIMEOUT_MS,
  })
  database.pragma('query_only = ON')
  const read = new Kysely<Tables>({ dialect: new SqliteDialect({ database }) })
  return { read, close: () => read.destroy() }
}

/**
 * Of two processes that create the file at once, SQLite lets one change the mode and fails the other at once, whatever
 * its timeout.
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

class DrivenDialect extends SqliteDialect {
  readonly #driver: () => Driver

  constructor(config: SqliteDialectConfig, driver: (config: SqliteDialectConfig) => Driver) {
    super(config)
    this.#driver = () => driver(config)
  }

  override createDriver(): Driver {
    return this.#driver()
  }

  override createQueryCompiler(): QueryCompiler {
    return new WrittenLimitCompiler()
  }
}

/** Writes limits out: SQLite looks at one that is bound to plan for it, and therefore prepares the statement anew every time. */
class WrittenLimitCompiler extends SqliteQueryCompiler {
  protected override visitLimit(node: LimitNode): void {
    const { limit } = node
    if (ValueNode.is(limit) && Number.isSafeInteger(limit.value)) this.append(`limit ${limit.value}`)
    else super.visitLimit(node)
  }
}

/** So long may be read before the event loop gets its turn: until then no timer goes off and nobody is listened to. */
const READ_WITHOUT_TURN_MS = 10

/**
 * Lets everyone read on the one connection without taking turns. A query is over before anything else runs, so there is
 * nothing to wait for but the event loop, which many queries in a row would keep from everything else; and Kysely wakes
 * everyone who waits whenever one is done, which for a crowd costs more than to read.
 */
class ReadingDriver extends SqliteDriver {
  #connection: DatabaseConnection | undefined
  /** When the first read of this turn of the event loop began. */
  #beganMs: number | undefined

  override async init(): Promise<void> {
    await super.init()
    this.#connection = await super.acquireConnection()
  }

  override async acquireConnection(): Promise<DatabaseConnection> {
    // Of those who wait, the one who comes first may take up the next turn too.
    while (this.#beganMs !== undefined && performance.now() - this.#beganMs > READ_WITHOUT_TURN_MS) await nextTurn()
    if (this.#beganMs === undefined) {
      this.#beganMs = performance.now()
      setImmediate(() => {
        this.#beganMs = undefined
      })
    }
    return this.#connection!
  }

  override async releaseConnection(): Promise<void> {}

  override async beginTransaction(): Promise<void> {
    throw new Error('Reading has no transactions: others read on the same connection meanwhile')
  }
}

/** Faults of what was asked, not of the database. */
const queryErrorCodes = /^SQLITE_(?:CONSTRAINT|ERROR|MISMATCH|RANGE|TOOBIG|AUTH|MISUSE)/

/** Taken for too long, disk full, unreadable. */
export const isSqliteUnavailable = (error: unknown): boolean =>
  error instanceof Sqlite.SqliteError && !queryErrorCodes.test(error.code)
