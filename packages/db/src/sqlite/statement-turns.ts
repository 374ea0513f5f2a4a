import { setImmediate as nextTurn } from 'node:timers/promises'

/** How long statements may run before the event loop gets a turn. Until then, no timer fires and no request is read. */
const WITHOUT_TURN_MS = 10

/** Gives the event loop a turn when the statements of a connection have blocked it for some time. All users of the connection share it. */
export class StatementTurns {
  /** The time at which the first statement of this turn of the event loop began. */
  #beganMs: number | undefined

  isDue(): boolean {
    return this.#beganMs === undefined || performance.now() - this.#beganMs > WITHOUT_TURN_MS
  }

  async take(): Promise<void> {
    // A loop, because the first waiting statement to continue may use up the next turn as well.
    while (this.#beganMs !== undefined && this.isDue()) await nextTurn()
    this.begin()
  }

  /** Notes that a statement begins, and waits for nothing. */
  begin(): void {
    if (this.#beganMs !== undefined) return
    this.#beganMs = performance.now()
    setImmediate(() => {
      this.#beganMs = undefined
    })
  }
}
