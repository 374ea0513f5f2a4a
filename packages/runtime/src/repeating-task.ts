import type { Clock } from './clock.ts'
import { FailureLog } from './failure-log.ts'
import type { Log } from './log.ts'

interface Schedule {
  readonly everyMs: number
  /** The delay before the first run. Default: `everyMs`. */
  readonly firstAfterMs?: number
  readonly clock: Clock
  readonly log: Log
}

/** Repeats a task at an interval until it is ended. Runs never overlap. The next run is the retry of one that failed. */
export class RepeatingTask {
  readonly #stop = new AbortController()
  readonly #ended: Promise<void>

  constructor(failureEvent: string, schedule: Schedule, work: () => Promise<void>) {
    this.#ended = this.#run(failureEvent, schedule, work)
  }

  /** Starts no further run, and resolves when the current one is done. */
  async end(): Promise<void> {
    this.#stop.abort()
    await this.#ended
  }

  async #run(failureEvent: string, schedule: Schedule, work: () => Promise<void>): Promise<void> {
    const { everyMs, firstAfterMs = everyMs, clock, log } = schedule
    const { signal } = this.#stop
    const message = 'a periodic task has failed; it runs again at the next interval'
    const failures = new FailureLog({ log, clock, event: failureEvent, message })
    for (let waitMs = firstAfterMs; ; waitMs = everyMs) {
      await clock.sleep(waitMs, signal).catch(() => {})
      if (signal.aborted) return
      try {
        await work()
        failures.succeeded()
      } catch (error) {
        failures.failed(error)
      }
    }
  }
}
