import type { Db } from '@penstock/db'
import { type Clock, type Log, RepeatingTask, systemClock } from '@penstock/runtime'

const ADJUST_EVERY_MS = 60_000

/** A difference of the clocks that is worth a line in the log. */
const NOTABLE_MS = 1_000

interface Adjustment {
  /** Database minus process, in milliseconds. */
  readonly differenceMs: number
  /** Whether the difference is notable and new. */
  readonly isNews: boolean
}

/**
 * A clock that follows the clock of the database, so that the processes of several hosts agree on when a lease, a session or a
 * token ends, however far the clocks of the hosts differ. It shows the time of the process until the first adjustment.
 */
export class DatabaseClock implements Clock {
  readonly #clock: Clock
  /** Returns the time of the database in milliseconds since 1970. */
  readonly #readNowMs: () => Promise<number>
  #differenceMs = 0
  #reportedMs = 0
  #lastNs = 0n

  constructor(clock: Clock, readNowMs: () => Promise<number>) {
    this.#clock = clock
    this.#readNowMs = readNowMs
  }

  nowMs(): number {
    return this.#clock.nowMs() + this.#differenceMs
  }

  nowNs(): bigint {
    const nowNs = this.#clock.nowNs() + BigInt(this.#differenceMs) * 1_000_000n
    if (nowNs > this.#lastNs) this.#lastNs = nowNs
    return this.#lastNs
  }

  monotonicMs(): number {
    return this.#clock.monotonicMs()
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return this.#clock.sleep(ms, signal)
  }

  /** Reads the clock of the database. The answer is assumed to be from the middle of the time that it took. */
  async adjust(): Promise<Adjustment> {
    const askedMs = this.#clock.nowMs()
    const databaseMs = await this.#readNowMs()
    const differenceMs = Math.round(databaseMs - (askedMs + this.#clock.nowMs()) / 2)
    this.#differenceMs = differenceMs
    const isNews = Math.abs(differenceMs - this.#reportedMs) >= NOTABLE_MS
    if (isNews) this.#reportedMs = differenceMs
    return { differenceMs, isNews }
  }
}

interface FollowedClock {
  readonly clock: Clock
  end(): Promise<void>
}

/** Returns the clock of a database that several hosts share, which is read now and every minute; on SQLite the clock of the process. */
export async function followClock(
  { nowMs }: Pick<Db<unknown>, 'nowMs'>,
  { clock, log }: { readonly clock: Clock; readonly log: Log },
): Promise<FollowedClock> {
  if (nowMs === undefined) return { clock, end: async () => {} }
  const shared = new DatabaseClock(clock, nowMs)
  const adjust = async () => {
    const { differenceMs, isNews } = await shared.adjust()
    if (!isNews) return
    const fields = { event: 'clock.differs', difference_ms: differenceMs }
    log.warn(fields, 'this host does not have the time of the database')
  }
  await adjust()
  // The pause is measured by the timer of the process, because the clock of the caller may be wrong, or stand still in a test.
  const pace = { everyMs: ADJUST_EVERY_MS, clock: systemClock, log }
  const adjusting = new RepeatingTask('clock.adjust_failed', pace, adjust)
  return { clock: shared, end: () => adjusting.end() }
}
