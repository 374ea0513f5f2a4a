import { setTimeout as sleep } from 'node:timers/promises'
import Sqlite from 'better-sqlite3'
import {
  CompiledQuery,
  type DatabaseConnection,
  type Kysely,
  type SqliteDialectConfig,
  SqliteDriver,
  type Transaction,
} from 'kysely'
import { MOST_WRITES } from './db.ts'
import { QueueFullError, Turns } from './turns.ts'

/** So long a transaction takes in further writes that wait. Each is over only when all are committed. */
const GROUP_MS = 10
const BUSY_TIMEOUT_MS = 5_000
/** Between two tries to begin while another process writes; the last one repeats. */
const beginDelaysMs = [1, 2, 5, 10, 15, 20, 25]

interface Write<Tables> {
  readonly work: (tx: Transaction<Tables>) => Promise<unknown>
  readonly resolve: (result: never) => void
  readonly reject: (reason: unknown) => void
}

/**
 * Writes one after another, those that wait for each other in one transaction, each between savepoints: the disk is waited
 * for once for all of them. To whoever asks it is as if each had a transaction of its own.
 */
export class GroupedWrites<Tables> {
  readonly #database: Sqlite.Database
  readonly #writer: Kysely<Tables>
  readonly #turns = new Turns()
  readonly #waiting: Write<Tables>[] = []
  #unfinished = 0
  #isGroupDue = false

  /** @param writer on `database`, driven by `SavepointDriver` */
  constructor(database: Sqlite.Database, writer: Kysely<Tables>) {
    this.#database = database
    this.#writer = writer
  }

  /** Rejects with `QueueFullError` at once, without having begun the work, when as many as may be are unfinished. */
  async take<Result>(work: (tx: Transaction<Tables>) => Promise<Result>): Promise<Result> {
    if (this.#unfinished >= MOST_WRITES) throw new QueueFullError()
    this.#unfinished += 1
    try {
      return await new Promise<Result>((resolve, reject) => {
        this.#waiting.push({ work, resolve, reject })
        this.#planGroup()
      })
    } finally {
      this.#unfinished -= 1
    }
  }

  /** What cannot be part of a transaction. */
  alone(work: () => void): Promise<void> {
    return this.#turns.take(async () => work())
  }

  /** Resolves when what has been asked for so far is over. */
  async over(): Promise<void> {
    do await this.#turns.over()
    while (this.#isGroupDue)
  }

  #planGroup(): void {
    if (this.#isGroupDue) return
    this.#isGroupDue = true
    this.#turns.take(() => this.#group()).catch(() => {})
  }

  async #group(): Promise<void> {
    try {
      await this.#begin()
      await this.#commit(await this.#writeThoseThatWait())
    } catch (error) {
      // It has waited longest. Those behind it have a try of their own.
      this.#waiting.shift()?.reject(error)
    } finally {
      this.#isGroupDue = false
      if (this.#waiting.length > 0) this.#planGroup()
    }
  }

  /** The wait is ours and not SQLite's, which would stop the whole event loop meanwhile. */
  async #begin(): Promise<void> {
    let waitedMs = 0
    for (let tries = 0; ; tries += 1) {
      try {
        // With the lock from the start: what begins by reading fails as soon as another process has written in between.
        this.#database.exec('begin immediate')
        return
      } catch (error) {
        if (!isBusy(error) || waitedMs >= BUSY_TIMEOUT_MS) throw error
      }
      const delayMs = beginDelaysMs[Math.min(tries, beginDelaysMs.length - 1)]!
      await sleep(delayMs)
      waitedMs += delayMs
    }
  }

  /** @returns those that are to be committed, with what they give */
  async #writeThoseThatWait(): Promise<(readonly [Write<Tables>, unknown])[]> {
    const written: (readonly [Write<Tables>, unknown])[] = []
    const fullAtMs = performance.now() + GROUP_MS
    while (this.#waiting.length > 0 && (written.length === 0 || performance.now() < fullAtMs)) {
      const write = this.#waiting.shift()!
      try {
        written.push([write, await this.#writer.transaction().execute(write.work)])
      } catch (error) {
        write.reject(error)
        if (!this.#database.inTransaction) {
          // A full disk, for one, ends the transaction and takes along everything in it.
          for (const [{ reject }] of written) reject(error)
          return []
        }
      }
    }
    return written
  }

  async #commit(written: readonly (readonly [Write<Tables>, unknown])[]): Promise<void> {
    try {
      if (this.#database.inTransaction) this.#database.exec('commit')
    } catch (error) {
      if (this.#database.inTransaction) this.#database.exec('rollback')
      for (const [{ reject }] of written) reject(error)
      return
    }
    for (const [{ resolve }, result] of written) resolve(result as never)
  }
}

const SAVEPOINT = 'a_write'

/** A transaction of whoever writes is what lies between two savepoints of the group's. */
export class SavepointDriver extends SqliteDriver {
  readonly #database: Sqlite.Database

  constructor(config: SqliteDialectConfig, database: Sqlite.Database) {
    super(config)
    this.#database = database
  }

  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw(`savepoint ${SAVEPOINT}`))
  }

  override async commitTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw(`release ${SAVEPOINT}`))
  }

  override async rollbackTransaction(connection: DatabaseConnection): Promise<void> {
    if (!this.#database.inTransaction) return
    await connection.executeQuery(CompiledQuery.raw(`rollback to ${SAVEPOINT}`))
    await connection.executeQuery(CompiledQuery.raw(`release ${SAVEPOINT}`))
  }
}

/** `SQLITE_BUSY` and its extended codes. */
export const isBusy = (error: unknown): boolean =>
  error instanceof Sqlite.SqliteError && error.code.startsWith('SQLITE_BUSY')
