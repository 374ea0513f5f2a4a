import { once } from 'node:events'
import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import type { Clock, Log } from '@penstock/runtime'
import type { FromThread, ToThread } from './thread-messages.ts'

/** The name of the store of each kind of thread. */
const storeNames = {
  'writer-thread': 'the embedded store',
  'reader-thread': 'the embedded store',
  'clickhouse-thread': 'the store in ClickHouse',
} as const

interface StoreThreadOptions {
  readonly entry: keyof typeof storeNames
  /** The argument of the thread's `open`; it must be cloneable. */
  readonly data: unknown
  readonly heapBytes: number
  readonly clock: Clock
  readonly log: Log
}

/**
 * The error for a request that has no answer: the thread ended first, there is no thread at the moment, or its database
 * cannot be used. The request may be sent again.
 */
export class ThreadUnavailable extends Error {
  override readonly name = 'ThreadUnavailable'
}

interface Pending<Reply> {
  resolve(reply: Reply): void
  reject(error: Error): void
}

/** The pause before a thread that ended without any answer is started again; it doubles each time. */
const RESTART_MS = 1_000
const MAX_RESTART_MS = 30_000

/** The extension of this file: `.ts` in tests, which run the sources, and `.js` otherwise. */
const ownExtension = extname(import.meta.url)

/**
 * A thread that answers requests, and is replaced when it ends. Requests in progress when a thread ends are not given to
 * the next one: one of them may have been the reason.
 */
export class StoreThread<Request, Reply> {
  readonly #options: StoreThreadOptions
  readonly #pending = new Map<number, Pending<Reply>>()
  readonly #closing = new AbortController()
  #worker: Worker | undefined
  #ended: Promise<unknown> = Promise.resolve()
  #lastId = 0
  /** How many threads in a row ended without an answer. */
  #failures = 0

  /**
   * Starts the thread.
   * @throws the error that prevents the thread from opening its file
   */
  static async start<Request, Reply>(options: StoreThreadOptions): Promise<StoreThread<Request, Reply>> {
    const thread = new StoreThread<Request, Reply>(options)
    const worker = thread.#start()
    try {
      await once(worker, 'message')
    } catch (error) {
      thread.#closing.abort()
      throw error
    }
    return thread
  }

  private constructor(options: StoreThreadOptions) {
    this.#options = options
  }

  get #storeName(): string {
    return storeNames[this.#options.entry]
  }

  get inProgress(): number {
    return this.#pending.size
  }

  /**
   * Sends a request to the thread and returns its answer.
   *
   * @param transfer memory that moves to the thread with the request
   * @throws ThreadUnavailable
   */
  ask(request: Request, transfer: readonly ArrayBuffer[] = []): Promise<Reply> {
    const worker = this.#worker
    if (worker === undefined || this.#closing.signal.aborted) {
      return Promise.reject(new ThreadUnavailable(`${this.#storeName} is not running`))
    }
    this.#lastId += 1
    const id = this.#lastId
    const message: ToThread<Request> = { kind: 'request', id, request }
    worker.postMessage(message, [...transfer])
    return new Promise((resolve, reject) => this.#pending.set(id, { resolve, reject }))
  }

  /** Resolves when every request in progress has its answer and the thread has closed its file. */
  async close(): Promise<void> {
    this.#closing.abort()
    const message: ToThread<Request> = { kind: 'close' }
    this.#worker?.postMessage(message)
    await this.#ended
  }

  #start(): Worker {
    const { entry, data, heapBytes } = this.#options
    const worker = new Worker(new URL(`./${entry}${ownExtension}`, import.meta.url), {
      workerData: data,
      resourceLimits: { maxOldGenerationSizeMb: Math.ceil(heapBytes / 1024 / 1024) },
    })
    this.#worker = worker
    let reason: unknown
    worker.on('message', (message: FromThread<Reply>) => this.#handleMessage(message))
    worker.on('error', (error) => {
      reason = error
    })
    this.#ended = new Promise((resolve) => {
      worker.once('exit', (code) => {
        this.#worker = undefined
        this.#rejectPending()
        if (!this.#closing.signal.aborted) void this.#replace(reason ?? `it ended with ${code}`)
        resolve(undefined)
      })
    })
    return worker
  }

  #handleMessage(message: FromThread<Reply>): void {
    switch (message.kind) {
      case 'opened':
        return
      case 'log':
        this.#options.log[message.level](message.fields, message.text)
        return
      case 'reply':
        this.#failures = 0
        this.#settle(message.id)?.resolve(message.reply)
        return
      case 'failure':
        this.#fail(message.id, message)
    }
  }

  /** Fails a request. The reason is written to the log only, because it may quote the database. */
  #fail(id: number, { text, isUnavailable }: { readonly text: string; readonly isUnavailable: boolean }): void {
    if (!isUnavailable) {
      this.#settle(id)?.reject(new Error(text))
      return
    }
    const { entry, log } = this.#options
    log.error({ event: 'observe.database_unusable', thread: entry, error: text }, 'A store of telemetry cannot be used')
    this.#settle(id)?.reject(new ThreadUnavailable(`${this.#storeName} cannot be used at the moment`))
  }

  #settle(id: number): Pending<Reply> | undefined {
    const pending = this.#pending.get(id)
    this.#pending.delete(id)
    return pending
  }

  #rejectPending(): void {
    const error = new ThreadUnavailable(`${this.#storeName} had to be restarted`)
    for (const { reject } of this.#pending.values()) reject(error)
    this.#pending.clear()
  }

  async #replace(reason: unknown): Promise<void> {
    const { clock, entry, log } = this.#options
    const pauseMs = this.#failures === 0 ? 0 : Math.min(RESTART_MS * 2 ** (this.#failures - 1), MAX_RESTART_MS)
    this.#failures += 1
    log.error(
      { event: 'observe.thread_ended', thread: entry, reason: String(reason), restart_ms: pauseMs },
      'A thread of a store of telemetry has ended. Its requests are answered with 503, and another thread is started',
    )
    if (pauseMs > 0) await clock.sleep(pauseMs, this.#closing.signal).catch(() => {})
    if (!this.#closing.signal.aborted) this.#start()
  }
}
