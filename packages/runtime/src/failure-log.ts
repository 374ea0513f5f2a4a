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

/** The number of kinds of errors that have a line each during one outage. */
const MAX_KINDS = 5

/**
 * Logs work that fails again and again: one line with the stack for each kind of error, and one line when it succeeds again. Repeated
 * failures are only counted, so that an outage of any length has two lines. A bug that appears during an outage has a line of its own.
 */
export class FailureLog {
  readonly #options: FailureLogOptions
  #failures = 0
  #sinceMs = 0
  readonly #kinds = new Set<string>()

  constructor(options: FailureLogOptions) {
    this.#options = options
  }

  /** The number of failures since the last success. */
  get failures(): number {
    return this.#failures
  }

  failed(error: unknown): void {
    const { log, clock, event, message, fields } = this.#options
    if (this.#failures === 0) this.#sinceMs = clock.monotonicMs()
    this.#failures += 1
    const { code, name } = error as Partial<NodeJS.ErrnoException>
    const kind = String(code ?? name)
    if (this.#kinds.has(kind) || this.#kinds.size >= MAX_KINDS) return
    this.#kinds.add(kind)
    log.error({ event, ...fields, err: error }, message)
  }

  succeeded(): void {
    if (this.#failures === 0) return
    const { log, clock, event, fields } = this.#options
    const recovered = event.replace(/\.\w+$/, '.recovered')
    const counts = { failures: this.#failures, after_ms: Math.round(clock.monotonicMs() - this.#sinceMs) }
    log.info({ event: recovered, ...fields, ...counts }, 'the work that failed succeeds again')
    this.#failures = 0
    this.#kinds.clear()
  }
}
