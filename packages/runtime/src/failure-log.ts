import type { Clock } from './clock.ts'
import type { Log } from './log.ts'

interface FailureLogOptions {
  readonly log: Log
  readonly clock: Pick<Clock, 'monotonicMs'>
  /** The event of a failure, such as `sweep.failed`. The event when the work succeeds again is `sweep.recovered`. */
  readonly event: string
  readonly message: string
  /** Further fields of both lines. */
  readonly fields?: Readonly<Record<string, string>>
}

/**
 * Logs work that fails again and again: one line with the stack when it begins to fail, and one line when it succeeds again. Failures in
 * between are only counted, so that an outage of any length has two lines.
 */
export class FailureLog {
  readonly #options: FailureLogOptions
  #failures = 0
  #sinceMs = 0

  constructor(options: FailureLogOptions) {
    this.#options = options
  }

  /** The number of failures since the last success. */
  get failures(): number {
    return this.#failures
  }

  failed(error: unknown): void {
    const { log, clock, event, message, fields } = this.#options
    this.#failures += 1
    if (this.#failures > 1) return
    this.#sinceMs = clock.monotonicMs()
    log.error({ event, ...fields, err: error }, message)
  }

  succeeded(): void {
    if (this.#failures === 0) return
    const { log, clock, event, fields } = this.#options
    const recovered = event.replace(/\.\w+$/, '.recovered')
    const counts = { failures: this.#failures, after_ms: Math.round(clock.monotonicMs() - this.#sinceMs) }
    log.info({ event: recovered, ...fields, ...counts }, 'the work that failed succeeds again')
    this.#failures = 0
  }
}
