/** Whose reading can be put off. */
export interface Line {
  /** Refusals since it was read last; kept by `RefusedLast`. A map would cost old generations of itself. */
  refusals: number
  hold(): void
  release(): void
}

/** About a quarter of a millisecond of one turn of the event loop. */
const REFUSALS_PER_TURN = 8
const COMPACT_AT = 1_024

/**
 * Connections that were refused for their credential are read again in line, a few in each turn of the event loop. An
 * accepted request takes several turns, to upstream and back, a refused one takes one: without this, a flood of wrong
 * tokens would, after any pause of the process, fill whole turns with its backlog while the accepted requests wait for the
 * next (T-12). What is not read waits in the buffers of its sender. As long as few are refused, nobody is held.
 */
export class RefusedLast {
  /** In the order they are read again, from `#next` on. */
  #waiting: Line[] = []
  #next = 0
  #held = 0
  #isTurnPlanned = false

  refused(line: Line): void {
    if (line.refusals === 0) this.#waiting.push(line)
    line.refusals += 1
    this.#planTurn()
  }

  #planTurn(): void {
    if (this.#isTurnPlanned) return
    this.#isTurnPlanned = true
    // After everything this turn has read.
    setImmediate(() => this.#endTurn())
  }

  #endTurn(): void {
    this.#isTurnPlanned = false
    for (let budget = REFUSALS_PER_TURN; budget > 0 && this.#next < this.#waiting.length; this.#next += 1) {
      const line = this.#waiting[this.#next]!
      budget -= line.refusals
      line.refusals = 0
      line.release()
    }
    this.#held = Math.max(this.#held, this.#next)
    for (; this.#held < this.#waiting.length; this.#held += 1) this.#waiting[this.#held]!.hold()
    if (this.#next < this.#waiting.length) {
      this.#planTurn()
      if (this.#next < COMPACT_AT) return
    }
    this.#waiting = this.#waiting.slice(this.#next)
    this.#held -= this.#next
    this.#next = 0
  }
}
