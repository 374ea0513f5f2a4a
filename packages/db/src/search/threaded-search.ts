import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import Sqlite from 'better-sqlite3'
import type { CompiledQuery, QueryResult } from 'kysely'
import type { ReadLimit, ReadScope } from '../port/read-limit.ts'
import { FairQueue } from './fair-queue.ts'
import { SearchBudgetError } from './search-budget.ts'
import type { FromSearchThread, SearchThreadData, ToSearchThread } from './search-messages.ts'

/** The extension of this file: `.ts` when running from source, `.js` when built. */
const ownExtension = extname(import.meta.url)
/** Enough for a list of the longest texts. */
const HEAP_MEGABYTES = 256

/** Runs statements that search texts in a thread, one after another, without holding up the event loop. Subscribers take turns. */
export class ThreadedSearch {
  readonly #data: SearchThreadData
  readonly #queue = new FairQueue({ atOnce: 1 })
  #worker: Worker | undefined
  #ended: Promise<void> = Promise.resolve()

  constructor(data: SearchThreadData) {
    this.#data = data
  }

  /** @throws SearchBudgetError; QueueFullError if too many searches wait; ReadLimitExceeded */
  async run<Row>(query: CompiledQuery, { limit, subscriber = '' }: ReadScope): Promise<QueryResult<Row>> {
    return { rows: (await this.#queue.run(subscriber, () => this.#readRows(query, limit))) as Row[] }
  }

  /** Resolves when all searches are done and the thread has closed the file. */
  async close(): Promise<void> {
    await this.#queue.drain()
    this.#worker?.ref()
    this.#send({ kind: 'close' })
    await this.#ended
  }

  async #readRows({ sql, parameters }: CompiledQuery, limit: ReadLimit | undefined): Promise<object[]> {
    const rows: object[] = []
    for (let request: ToSearchThread = { kind: 'run', sql, parameters }; ; request = { kind: 'next' }) {
      const answer = await this.#ask(request)
      if (answer.kind === 'failure') throw toError(answer)
      try {
        for (const row of answer.rows) rows.push(limit === undefined ? row : admittedRow(row, limit))
      } catch (error) {
        this.#send({ kind: 'stop' })
        throw error
      }
      if (answer.isLast) return rows
    }
  }

  #ask(request: ToSearchThread): Promise<FromSearchThread> {
    this.#worker ??= this.#start()
    const worker = this.#worker
    return new Promise((resolve, reject) => {
      const onEnd = () => reject(new Sqlite.SqliteError('The thread of searches has ended', 'SQLITE_IOERR'))
      worker.once('exit', onEnd)
      worker.once('message', (answer: FromSearchThread) => {
        worker.off('exit', onEnd)
        worker.unref()
        resolve(answer)
      })
      worker.ref()
      this.#send(request)
    })
  }

  #send(message: ToSearchThread): void {
    this.#worker?.postMessage(message)
  }

  #start(): Worker {
    const worker = new Worker(new URL(`./search-thread${ownExtension}`, import.meta.url), {
      workerData: this.#data,
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MEGABYTES },
    })
    // For example because the file was removed. The search fails when the thread ends, and the next one starts another.
    worker.on('error', () => {})
    this.#ended = new Promise((resolve) => {
      worker.once('exit', () => {
        this.#worker = undefined
        resolve()
      })
    })
    return worker
  }
}

const admittedRow = (row: object, limit: ReadLimit): object =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, typeof value === 'string' ? limit.admit(value) : value]),
  )

function toError(failure: Extract<FromSearchThread, { kind: 'failure' }>): Error {
  switch (failure.reason) {
    case 'budget':
      return new SearchBudgetError()
    case 'database':
      return new Sqlite.SqliteError(failure.message, failure.code)
    case 'other':
      return new Error(failure.message)
  }
}
