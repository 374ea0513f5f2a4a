import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import type Sqlite from 'better-sqlite3'
import type { Transaction } from 'kysely'
import { MAX_PENDING_WRITES, type WriteOptions } from '../port/db.ts'
import { QueueFullError, SerialQueue } from '../port/serial-queue.ts'
import { isBusy } from './is-busy.ts'
import { type Savepoints, writeAborted } from './savepoints.ts'

/** How long a transaction accepts further waiting writes. Each write is done only when the whole group is committed. */
const GROUP_MS = 10
/** How many turns the event loop gets after each transaction. It needs several: Node accepts one connection per turn. */
const TURNS_AFTER_GROUP = 8
const BUSY_TIMEOUT_MS = 5_000
/** The delays between attempts to begin a transaction while another process writes; the last one repeats. */
const beginDelaysMs = [1, 2, 5, 10, 15, 20, 25]

interface Write<Tables> {
  /** Resolves to the function that reports its result to the caller. */
  readonly work: (tx: Transaction<Tables>) => Promise<() => void>
  readonly limitMs: number | undefined
  readonly reject: (reason: unknown) => void
}

/** The result of a write, which `settle` reports to its caller after the group is committed. */
interface Outcome<Tables> {
  readonly write: Write<Tables>
  readonly settle: () => void
}

/**
 * Runs writes one after another, and commits waiting writes together, so that they share one wait for the disk. Each write
 * runs in a savepoint, so that for its caller it behaves like a separate transaction.
 */
export class GroupedWrites<Tables> {
  readonly #database: Sqlite.Database
  readonly #savepoints: Savepoints<Tables>
  readonly #idleLimitMs: number
  readonly #onCommit: () => void
  readonly #queue = new SerialQueue()
  readonly #waiting: Write<Tables>[] = []
  #unfinished = 0
  #isGroupDue = false

  /** @param savepoints of the transaction on `database` */
  constructor(
    database: Sqlite.Database,
    savepoints: Savepoints<Tables>,
    idleLimitMs: number,
    onCommit: () => void = () => {},
  ) {
    this.#onCommit = onCommit
    this.#database = database
    this.#savepoints = savepoints
    this.#idleLimitMs = idleLimitMs
  }

  /** Runs `work` in its turn. Rejects with `QueueFullError` if `MAX_PENDING_WRITES` are unfinished; `work` is then not run. */
  async write<Result>(
    work: (tx: Transaction<Tables>) => Promise<Result>,
    { noTimeout = false }: WriteOptions = {},
  ): Promise<Result> {
    if (this.#unfinished >= MAX_PENDING_WRITES) throw new QueueFullError()
    this.#unfinished += 1
    try {
      return await new Promise<Result>((resolve, reject) => {
        this.#waiting.push({
          work: (tx) => work(tx).then((result) => () => resolve(result)),
          limitMs: noTimeout ? undefined : this.#idleLimitMs,
          reject,
        })
        this.#planGroup()
      })
    } finally {
      this.#unfinished -= 1
    }
  }

  /** Runs `work` outside any transaction, and not at the same time as any write. */
  runExclusive(work: () => void): Promise<void> {
    return this.#queue.run(async () => work())
  }

  /** Resolves when all work that was submitted before this call is done. */
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
      await this.#writeGroup()
      await yieldToEventLoop(performance.now() - beganMs)
    } catch (error) {
      // Only the write that has waited longest fails. The others get a new attempt.
      this.#waiting.shift()?.reject(error)
    } finally {
      this.#isGroupDue = false
      if (this.#waiting.length > 0) this.#planGroup()
    }
  }

  /** Begins a transaction. It waits here and not with SQLite's busy timeout, which would block the event loop. */
  async #begin(): Promise<void> {
    let waitedMs = 0
    for (let tries = 0; ; tries += 1) {
      try {
        // `immediate` takes the write lock now. A transaction that begins by reading could fail at its first write.
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

  async #writeGroup(): Promise<void> {
    const outcomes: Outcome<Tables>[] = []
    const fullAtMs = performance.now() + GROUP_MS
    while (this.#waiting.length > 0 && (outcomes.length === 0 || performance.now() < fullAtMs)) {
      const outcome = await this.#run(this.#waiting.shift()!)
      if (!this.#database.inTransaction) {
        // Some errors, such as a full disk, make SQLite roll back the whole transaction.
        outcome.settle()
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
    for (const { settle } of outcomes) settle()
    this.#onCommit()
  }

  /**
   * Runs one write. Failures, too, are reported only after the commit, because the cause may be a row that another
   * write of the group has stored.
   */
  async #run(write: Write<Tables>): Promise<Outcome<Tables>> {
    try {
      const settle = await this.#savepoints.run((tx) => this.#withinLimit(write.work(tx), write.limitMs))
      return { write, settle }
    } catch (error) {
      return { write, settle: () => write.reject(error) }
    }
  }

  /** Rejects when `work` runs no statement for `limitMs`, like `idle_in_transaction_session_timeout` of PostgreSQL. */
  async #withinLimit<Result>(work: Promise<Result>, limitMs: number | undefined): Promise<Result> {
    if (limitMs === undefined) return work
    const beganMs = performance.now()
    let timer: NodeJS.Timeout | undefined
    const idleTooLong = new Promise<never>((_, reject) => {
      const check = () => {
        const leftMs = Math.max(beganMs, this.#savepoints.lastStatementMs) + limitMs - performance.now()
        if (leftMs > 0) timer = setTimeout(check, leftMs)
        else reject(writeAborted(`it ran no statement for ${limitMs} ms`))
      }
      timer = setTimeout(check, limitMs)
    })
    return Promise.race([work, idleTooLong]).finally(() => clearTimeout(timer))
  }
}

/** Lets the event loop run for up to `TURNS_AFTER_GROUP` turns, and for at most `maxMs` after the first turn. */
async function yieldToEventLoop(maxMs: number): Promise<void> {
  const untilMs = performance.now() + maxMs
  for (let turns = 0; turns < TURNS_AFTER_GROUP; turns += 1) {
    await nextTurn()
    if (performance.now() >= untilMs) return
  }
}
