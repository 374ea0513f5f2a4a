import { migrate } from '@penstock/db'
import { type Clock, type Log, silentLog, systemClock } from '@penstock/runtime'
import { answerIn, type StoreQuery, type StoreReply, type StoreResponse } from './ports/store-queries.ts'
import { migrations } from './schema/migrations.ts'
import { defaultObserveLimits, type ObserveLimits } from './store/observe-limits.ts'
import type { Receipt, ReceivedRequest } from './store/received-request.ts'
import { openStoreFile } from './store/store-writer.ts'
import { StoreThread, ThreadUnavailable } from './threads/store-thread.ts'

export interface ObserveOptions {
  readonly file: string
  readonly limits?: Partial<ObserveLimits>
  readonly log?: Log
  /** The clock for the pauses between restarts of a thread; the threads themselves use the system's clock. */
  readonly clock?: Clock
}

/** The heap limit of the thread that answers queries. */
const READER_HEAP_BYTES = 1024 * 1024 * 1024

/** The pause between the start of the store and that of the thread that reads, in which the service starts. */
const READ_AHEAD_AFTER_MS = 3_000

/** Opens or creates the store. One process owns the file. */
export async function openObserve(options: ObserveOptions): Promise<Observe> {
  const observe = await startObserve(options)
  await observe.opened
  return observe
}

/** As `openObserve`, but returns while the thread that writes is still starting. Requests wait for it. */
export async function startObserve(options: ObserveOptions): Promise<Observe> {
  const { file, limits, log = silentLog, clock = systemClock } = options
  // Opened on this thread first, so that a file that cannot be used is reported with the database's own error.
  const db = openStoreFile(file)
  let hasRuns: boolean
  try {
    await migrate(db, migrations)
    hasRuns = (await db.read.selectFrom('pipeline_facts').select('id').limit(1).execute()).length > 0
  } finally {
    await db.close()
  }
  const all = { ...defaultObserveLimits, ...limits }
  const context = { data: { file, limits: all }, clock, log }
  const startWriter = () =>
    StoreThread.start<ReceivedRequest, Receipt>({ ...context, entry: 'writer-thread', heapBytes: all.writerHeapBytes })
  const startReader = () =>
    StoreThread.start<StoreQuery, StoreReply>({
      ...context,
      entry: 'reader-thread',
      heapBytes: READER_HEAP_BYTES,
    })
  const observe = new Observe(all, startWriter(), startReader)
  // Without runs there is nothing to read ahead, and a thread takes 10 MiB.
  if (hasRuns) observe.startReaderLater(clock)
  return observe
}

/** Returns a store that answers every request as unavailable, in place of one with a file that cannot be used. */
export const unusableObserve = (reason: unknown): Observe =>
  new Observe(defaultObserveLimits, Promise.reject(reason), () => Promise.reject(reason))

/** Waits for a thread that is starting. @throws ThreadUnavailable if it cannot start */
const started = <Thread>(starting: Promise<Thread>): Promise<Thread> =>
  starting.catch((cause: unknown) => {
    throw new ThreadUnavailable('the embedded store cannot be opened', { cause })
  })

/**
 * Receives telemetry on a laptop, keeps it for a while and answers queries about it.
 *
 * Neither decoding nor SQL runs on the caller's thread. One thread inflates, decodes, writes and deletes; another,
 * started by the first query, or soon after the start if there are runs, reads. If a thread ends, its requests are `unavailable`; everything that was `kept` is on
 * disk.
 */
export class Observe {
  readonly limits: ObserveLimits
  /** Resolves when the thread that writes has opened the file. Rejects with the error that prevents it. */
  readonly opened: Promise<unknown>
  readonly #writer: Promise<StoreThread<ReceivedRequest, Receipt>>
  readonly #startReader: () => Promise<StoreThread<StoreQuery, StoreReply>>
  #reader: Promise<StoreThread<StoreQuery, StoreReply>> | undefined
  readonly #listeners = new Set<() => void>()
  readonly #closing = new AbortController()
  #waitingBytes = 0
  #waitingQueries = 0

  constructor(
    limits: ObserveLimits,
    writer: Promise<StoreThread<ReceivedRequest, Receipt>>,
    startReader: () => Promise<StoreThread<StoreQuery, StoreReply>>,
  ) {
    this.limits = limits
    this.opened = writer
    this.#writer = writer
    // The error is that of `opened`. Without a handler, it would end the process before the caller awaits it.
    writer.catch(() => {})
    this.#startReader = startReader
  }

  /** Stores one Export*ServiceRequest and takes over its memory: the caller must not use `wire` afterwards. */
  async receive(received: ReceivedRequest & { readonly wire: Uint8Array<ArrayBuffer> }): Promise<Receipt> {
    const bytes = received.wire.length
    if (this.#waitingBytes > 0 && this.#waitingBytes + bytes > this.limits.maxWaitingBytes) {
      return { kind: 'unavailable', text: 'the embedded store cannot keep up' }
    }
    this.#waitingBytes += bytes
    try {
      const receipt = await (await started(this.#writer)).ask(received, [received.wire.buffer])
      if (receipt.kind === 'kept') for (const listener of this.#listeners) listener()
      return receipt
    } catch (error) {
      if (error instanceof ThreadUnavailable) return { kind: 'unavailable', text: error.message }
      throw error
    } finally {
      this.#waitingBytes -= bytes
    }
  }

  /** Calls a function each time that something was stored. */
  onKept(listener: () => void): void {
    this.#listeners.add(listener)
  }

  /**
   * Answers a query; `undefined` if nothing is stored under the id that it asks for.
   *
   * @throws ThreadUnavailable, also if too many questions wait; QueryTooLarge
   */
  async answer(query: StoreQuery): Promise<StoreResponse | undefined> {
    if (this.#waitingQueries >= this.limits.maxWaitingQueries) {
      throw new ThreadUnavailable('too many queries wait for their turn')
    }
    this.#waitingQueries += 1
    try {
      return answerIn(await (await started(this.#openReader())).ask(query))
    } finally {
      this.#waitingQueries -= 1
    }
  }

  /** Starts the thread that reads without a query, so that it has read the runs for insights when the first one comes. */
  startReaderLater(clock: Clock): void {
    const { signal } = this.#closing
    void clock
      .sleep(READ_AHEAD_AFTER_MS, signal)
      .then(() => (signal.aborted ? undefined : this.#openReader()))
      // The next query tries again, and reports the error.
      .catch(() => {})
  }

  #openReader(): Promise<StoreThread<StoreQuery, StoreReply>> {
    this.#reader ??= this.#startReader().catch((error) => {
      this.#reader = undefined
      throw error
    })
    return this.#reader
  }

  /** Writes everything received, then closes the file. Later requests are `unavailable`. */
  async close(): Promise<void> {
    this.#closing.abort()
    await (await this.#reader)?.close()
    await this.#writer.then(
      (writer) => writer.close(),
      () => {},
    )
  }
}
