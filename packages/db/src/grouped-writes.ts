import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import Sqlite from 'better-sqlite3'
import type { Kysely, Transaction } from 'kysely'
import { MAX_PENDING_WRITES, type WriteOptions } from './db.ts'
import { writeAborted, type SavepointDriver } from './savepoint-driver.ts'
import { QueueFullError, SerialQueue } from './serial-queue.ts'

/** So long a transaction takes in further writes that wait. Each is over only when all are committed. */
const GROUP_MS = 10
/** Of the event loop, after each transaction: in one of them Node accepts no more than one connection. */
const TURNS_BETWEEN = 8
const BUSY_TIMEOUT_MS = 5_000
/** Between two tries to begin while another process writes; the last one repeats. */
const beginDelaysMs = [1, 2, 5, 10, 15, 20, 25]

interface Write<Tables> {
  readonly work: (tx: Transaction<Tables>) => Promise<unknown>
  readonly limitMs: number | undefined
  readonly resolve: (result: never) => void
  readonly reject: (reason: unknown) => void
}

/** What becomes of a write if its group is committed. */
interface Outcome<Tables> {
  readonly write: Write<Tables>
  readonly tell: () => void
}

/**
 * Writes one after another, those that wait for each other in one transaction, each between savepoints: the disk is waited
 * for once for all of them. To whoever asks it is as if each had a transaction of its own.
 */
export class GroupedWrites<Tables> {
  readonly #database: Sqlite.Database
  readonly #writer: Kysely<Tables>
  readonly #driver: Pick<SavepointDriver, 'lastStatementMs'>
  readonly #idleLimitMs: number
  readonly #queue = new SerialQueue()
  readonly #waiting: Write<Tables>[] = []
  #unfinished = 0
  #isGroupDue = false

  /** @param writer on `database`, driven by `driver` */
  constructor(
    database: Sqlite.Database,
    writer: Kysely<Tables>,
    driver: Pick<SavepointDriver, 'lastStatementMs'>,
    idleLimitMs: number,
  ) {
    this.#database = database
    this.#writer = writer
    this.#driver = driver
    this.#idleLimitMs = idleLimitMs
  }

  /** Rejects with `QueueFullError` at once, without having begun the work, when as many as may be are unfinished. */
  async write<Result>(
    work: (tx: Transaction<Tables>) => Promise<Result>,
    { noTimeout = false }: WriteOptions = {},
  ): Promise<Result> {
    if (this.#unfinished >= MAX_PENDING_WRITES) throw new QueueFullError()
    this.#unfinished += 1
    try {
      return await new Promise<Result>((resolve, reject) => {
        this.#waiting.push({ work, limitMs: noTimeout ? undefined : this.#idleLimitMs, resolve, reject })
        this.#planGroup()
      })
    } finally {
      this.#unfinished -= 1
    }
  }

  /** What cannot be part of a transaction. */
  runExclusive(work: () => void): Promise<void> {
    return this.#queue.run(async () => work())
  }

  /** Resolves when what has been asked for so far is over. */
  async drain(): Promise<void> {
    do await this.#queue.drain()
    while (this.#isGroupDue)
  }

  #planGroup(): void {
    if (this.#isGroupDue) return
    this.#isGroupDue = true
    this.#queue.run(() => this.#group()).catch(() => {})
  }

  async #group(): Promise<void> {
    try {
      await this.#begin()
      const beganMs = performance.now()
      await this.#writeThoseThatWait()
      await letOthers(performance.now() - beganMs)
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

  async #writeThoseThatWait(): Promise<void> {
    const outcomes: Outcome<Tables>[] = []
    const fullAtMs = performance.now() + GROUP_MS
    while (this.#waiting.length > 0 && (outcomes.length === 0 || performance.now() < fullAtMs)) {
      const outcome = await this.#run(this.#waiting.shift()!)
      if (!this.#database.inTransaction) {
        // A full disk, for one, ends the transaction and takes along everything in it.
        outcome.tell()
        for (const { write } of outcomes) write.reject(writeAborted())
        return
      }
      outcomes.push(outcome)
    }
    try {
      this.#database.exec('commit')
    } catch (error) {
      for (const { write } of outcomes) write.reject(error)
      if (this.#database.inTransaction) this.#database.exec('rollback')
      return
    }
    for (const { tell } of outcomes) tell()
  }

  /** A failure is told as late as a success: what it was found to collide with may not be committed yet. */
  async #run(write: Write<Tables>): Promise<Outcome<Tables>> {
    try {
      const result = await this.#writer.transaction().execute((tx) => this.#withinLimit(write.work(tx), write.limitMs))
      return { write, tell: () => write.resolve(result as never) }
    } catch (error) {
      return { write, tell: () => write.reject(error) }
    }
  }

  /** The limit is that of the time between two statements, as on PostgreSQL. */
  async #withinLimit<Result>(work: Promise<Result>, limitMs: number | undefined): Promise<Result> {
    if (limitMs === undefined) return work
    const beganMs = performance.now()
    let timer: NodeJS.Timeout | undefined
    const standstill = new Promise<never>((_, reject) => {
      const look = () => {
        const leftMs = Math.max(beganMs, this.#driver.lastStatementMs) + limitMs - performance.now()
        if (leftMs > 0) timer = setTimeout(look, leftMs)
        else reject(writeAborted(`it stood still for ${limitMs} ms`))
      }
      timer = setTimeout(look, limitMs)
    })
    return Promise.race([work, standstill]).finally(() => clearTimeout(timer))
  }
}

/** For as long as they had to wait at most, but for one turn in any case. */
async function letOthers(forMs: number): Promise<void> {
  const untilMs = performance.now() + forMs
  for (let turns = 0; turns < TURNS_BETWEEN; turns += 1) {
    await nextTurn()
    if (performance.now() >= untilMs) return
  }
}

/** `SQLITE_BUSY` and its extended codes. */
export const isBusy = (error: unknown): boolean =>
  error instanceof Sqlite.SqliteError && error.code.startsWith('SQLITE_BUSY')
