import type { Clock } from './clock.ts'
import type { Log } from './log.ts'

interface Pace {
  readonly everyMs: number
  /** Default: `everyMs`. */
  readonly firstAfterMs?: number
  readonly clock: Clock
  readonly log: Log
}

/** Does something again and again, one at a time, until it is ended. A failure is logged, and tried again in its turn. */
export class RepeatingTask {
  readonly #stop = new AbortController()
  readonly #over: Promise<void>

  constructor(failureEvent: string, pace: Pace, work: () => Promise<void>) {
    this.#over = this.#run(failureEvent, pace, work)
  }

  /** Resolves when what is under way is done. */
  async end(): Promise<void> {
    this.#stop.abort()
    await this.#over
  }

  async #run(failureEvent: string, pace: Pace, work: () => Promise<void>): Promise<void> {
    const { everyMs, firstAfterMs = everyMs, clock, log } = pace
    const { signal } = this.#stop
    for (let waitMs = firstAfterMs; ; waitMs = everyMs) {
      await clock.sleep(waitMs, signal).catch(() => {})
      if (signal.aborted) return
      try {
        await work()
      } catch (error) {
        log.error({ event: failureEvent, err: error }, 'regular work has failed; it is tried again')
      }
    }
  }
}
