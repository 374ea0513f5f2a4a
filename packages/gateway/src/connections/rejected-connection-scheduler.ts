/** A connection that can be paused between requests. */
export interface SchedulableConnection {
  /** The number of rejections since the last `resumeReading`. The scheduler keeps it here to avoid a map. */
  rejections: number
  pauseReading(): void
  resumeReading(): void
}

/**
 * The number of rejected requests after which no further connection is resumed in the same turn of the event loop. That
 * many take about a quarter of a millisecond.
 */
const REJECTIONS_PER_TURN = 8
const COMPACT_AT = 1_024

/**
 * Pauses connections that sent a rejected credential, and resumes them in order, a few in each turn of the event loop.
 *
 * A rejected request takes one turn of the event loop, an accepted one takes several, to upstream and back. Without
 * this class, a flood of wrong tokens that queued up while the process was busy would fill whole turns, and the
 * accepted requests would wait (T-12). Unread bytes stay in the sender's buffers. If few requests are rejected, no
 * connection is paused.
 */
export class RejectedConnectionScheduler {
  /** Rejected connections in the order in which they are resumed; those before `#next` have been resumed. */
  #waiting: SchedulableConnection[] = []
  #next = 0
  /** Connections before this index have been paused or resumed. */
  #handled = 0
  #isTurnPlanned = false

  recordRejection(connection: SchedulableConnection): void {
    if (connection.rejections === 0) this.#waiting.push(connection)
    connection.rejections += 1
    this.#planTurn()
  }

  #planTurn(): void {
    if (this.#isTurnPlanned) return
    this.#isTurnPlanned = true
    // `setImmediate` runs after this turn has read all sockets.
    setImmediate(() => this.#endTurn())
  }

  #endTurn(): void {
    this.#isTurnPlanned = false
    for (let budget = REJECTIONS_PER_TURN; budget > 0 && this.#next < this.#waiting.length; this.#next += 1) {
      const connection = this.#waiting[this.#next]!
      budget -= connection.rejections
      connection.rejections = 0
      connection.resumeReading()
    }
    this.#handled = Math.max(this.#handled, this.#next)
    for (; this.#handled < this.#waiting.length; this.#handled += 1) this.#waiting[this.#handled]!.pauseReading()
    if (this.#next < this.#waiting.length) {
      this.#planTurn()
      if (this.#next < COMPACT_AT) return
    }
    this.#waiting = this.#waiting.slice(this.#next)
    this.#handled -= this.#next
    this.#next = 0
  }
}
