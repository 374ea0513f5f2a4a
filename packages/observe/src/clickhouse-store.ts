import { type Clock, type Log, silentLog, systemClock } from '@penstock/runtime'
import type { ClickHouseAddress } from './clickhouse/schema/clickhouse-client.ts'
import { answerIn, type StoreQuery, type StoreReply, type StoreResponse } from './ports/store-queries.ts'
import { StoreThread, ThreadUnavailable } from './threads/store-thread.ts'

export interface ClickHouseStoreOptions {
  readonly address: ClickHouseAddress
  /** Whether to create and fill views in the database. */
  readonly createViews?: boolean
  readonly log?: Log
  /** The clock for the pauses between restarts of the thread. */
  readonly clock?: Clock
}

const HEAP_BYTES = 1024 * 1024 * 1024
/** The queries that are answered at the same time; further ones wait. */
const MAX_ACTIVE = 4
const MAX_WAITING = 100

/** Answers queries from the tables of the collector's clickhouse exporter. It changes nothing, apart from views that it may create. */
export class ClickHouseStore {
  readonly #thread: StoreThread<StoreQuery, StoreReply>
  readonly #waiting: (() => void)[] = []
  #active = 0

  /** Starts the thread that answers. Whether the database can be reached is found out by the first query. */
  static async open({
    address,
    createViews = false,
    log = silentLog,
    clock = systemClock,
  }: ClickHouseStoreOptions): Promise<ClickHouseStore> {
    const entry = 'clickhouse-thread'
    return new ClickHouseStore(
      await StoreThread.start({ entry, data: { address, createViews }, heapBytes: HEAP_BYTES, clock, log }),
    )
  }

  private constructor(thread: StoreThread<StoreQuery, StoreReply>) {
    this.#thread = thread
  }

  /**
   * Answers a query; `undefined` if nothing is stored under the id that it asks for.
   *
   * @throws ThreadUnavailable, also if too many questions wait; QueryTooLarge
   */
  async answer(query: StoreQuery): Promise<StoreResponse | undefined> {
    if (this.#active >= MAX_ACTIVE) {
      if (this.#waiting.length >= MAX_WAITING) throw new ThreadUnavailable('too many queries wait for their turn')
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    } else this.#active += 1
    try {
      return answerIn(await this.#thread.ask(query))
    } finally {
      // The next query takes the place of this one.
      const next = this.#waiting.shift()
      if (next === undefined) this.#active -= 1
      else next()
    }
  }

  close(): Promise<void> {
    return this.#thread.close()
  }
}
