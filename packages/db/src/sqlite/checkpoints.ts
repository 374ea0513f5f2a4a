import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import type Sqlite from 'better-sqlite3'

/** The extension of this file: `.ts` when running from source, `.js` when built. */
const ownExtension = extname(import.meta.url)
/** The number of commits within a period that make a thread worth its memory. Until then, commits copy pages themselves. */
const COMMITS_BEFORE_THREAD = 200
const PERIOD_MS = 10_000
const INTERVAL_MS = 1_000
/** The pages in the log at which a commit copies them itself: SQLite's default, and beside a thread. */
const PAGES_WITHOUT_THREAD = 1_000
const PAGES_WITH_THREAD = 8_000
const HEAP_MEGABYTES = 16

export interface CheckpointOptions {
  readonly commitsBeforeThread?: number
  readonly intervalMs?: number
}

/**
 * Copies committed pages from the write-ahead log into the file in a thread, about once a second while there are commits.
 * Otherwise each thousandth page makes a commit do it, on the event loop, and pages that change often are copied more often.
 *
 * The thread starts when there are many commits. If it falls behind, the log grows up to a limit and a commit copies the pages. If it
 * ends, commits copy them as before.
 */
export class Checkpoints {
  readonly #file: string
  readonly #database: Sqlite.Database
  readonly #intervalMs: number
  readonly #commitsBeforeThread: number
  #commits = 0
  #periodBeganMs = Number.NEGATIVE_INFINITY
  #hasStarted = false
  #worker: Worker | undefined
  #ended: Promise<unknown> = Promise.resolve()
  #timer: NodeJS.Timeout | undefined
  #isBusy = true
  #isClosed = false

  /** @param database the connection that writes to `file` */
  constructor(
    file: string,
    database: Sqlite.Database,
    { commitsBeforeThread = COMMITS_BEFORE_THREAD, intervalMs = INTERVAL_MS }: CheckpointOptions = {},
  ) {
    this.#file = file
    this.#database = database
    this.#commitsBeforeThread = commitsBeforeThread
    this.#intervalMs = intervalMs
  }

  /** Must be called after each commit. */
  noteCommit(): void {
    if (this.#isClosed) return
    if (!this.#hasStarted) this.#startIfBusy()
    else if (this.#worker !== undefined) {
      this.#timer ??= setTimeout(() => this.#checkpoint(), this.#intervalMs).unref()
    }
  }

  /** Resolves when the thread has closed the file. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#timer)
    this.#worker?.postMessage('close')
    // The process waits for the end of the thread, which keeps it alive only now.
    this.#worker?.ref()
    await this.#ended
  }

  #checkpoint(): void {
    this.#timer = undefined
    if (this.#isBusy) return
    this.#isBusy = true
    this.#worker?.postMessage('checkpoint')
  }

  #startIfBusy(): void {
    const nowMs = performance.now()
    if (nowMs - this.#periodBeganMs > PERIOD_MS) {
      this.#periodBeganMs = nowMs
      this.#commits = 0
    }
    this.#commits += 1
    if (this.#commits >= this.#commitsBeforeThread) this.#start()
  }

  #start(): void {
    this.#hasStarted = true
    const worker = new Worker(new URL(`./checkpoint-thread${ownExtension}`, import.meta.url), {
      workerData: this.#file,
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MEGABYTES },
    })
    this.#worker = worker
    worker.on('message', (message: 'open' | 'done') => {
      this.#isBusy = false
      if (message === 'open') this.#useLimit(PAGES_WITH_THREAD)
    })
    // For example because the file was removed; the commits go on without the thread.
    worker.on('error', () => {})
    this.#ended = new Promise((resolve) => {
      worker.once('exit', () => {
        this.#worker = undefined
        this.#useLimit(PAGES_WITHOUT_THREAD)
        resolve(undefined)
      })
    })
    worker.unref()
  }

  #useLimit(pages: number): void {
    if (this.#database.open) this.#database.pragma(`wal_autocheckpoint = ${pages}`)
  }
}
