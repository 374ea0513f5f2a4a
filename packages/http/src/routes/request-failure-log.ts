import type { Log } from '@penstock/runtime'

/** A request that was answered with an error of the server. */
interface RequestFailure {
  readonly method: string
  /** The path of the route: the path of the request may have secrets. */
  readonly route: string | undefined
  readonly status: number
  readonly requestId: string
  readonly error: unknown
}

interface Outage {
  readonly sinceMs: number
  lastMs: number
  loggedMs: number
  /** The refusals since the last line. */
  suppressed: number
  refused: number
}

/** The time between two lines about refusals of one kind. */
const LINE_EVERY_MS = 60_000
/** The time without a refusal after which it is over. */
const QUIET_MS = 10_000
/** The number of kinds of refusals that have lines of their own. */
const MAX_KINDS = 20

/**
 * Logs requests that failed. If the database or memory is not available, all requests are refused (503): each kind of refusal has one line
 * a minute, with the number of refusals in between, and one when it is over. Other failures are bugs and have a line each.
 */
export class RequestFailureLog {
  readonly #log: Log
  readonly #monotonicMs: () => number
  readonly #outages = new Map<string, Outage>()

  constructor(log: Log, monotonicMs: () => number = () => performance.now()) {
    this.#log = log
    this.#monotonicMs = monotonicMs
  }

  failed({ method, route, status, requestId, error }: RequestFailure): void {
    // If the error was converted for the response, its cause is the original error.
    const { message, name, stack, code } = ((error as Error).cause ?? error) as Partial<NodeJS.ErrnoException>
    const fields = { event: 'http.request_failed', method, route, status, request_id: requestId, code, error: message }
    if (status !== 503) {
      this.#log.error({ ...fields, stack }, 'A request failed')
      return
    }
    const suppressed = this.#suppressedBefore(String(code ?? name))
    // The refusal is expected during an outage: the place in the code would only make the log longer.
    if (suppressed >= 0) {
      this.#log.warn({ ...fields, ...(suppressed > 0 && { suppressed }) }, 'A request was refused for the moment')
    }
  }

  /** Logs the end of outages. Call it for every request that did not fail. */
  succeeded(): void {
    if (this.#outages.size === 0) return
    const atMs = this.#monotonicMs()
    for (const [kind, { sinceMs, lastMs, refused, suppressed }] of this.#outages) {
      if (atMs - lastMs < QUIET_MS) continue
      this.#outages.delete(kind)
      const counts = { refused, ...(suppressed > 0 && { suppressed }), after_ms: Math.round(lastMs - sinceMs) }
      this.#log.info({ event: 'http.recovered', kind, ...counts }, 'Requests are no longer refused')
    }
  }

  /** Returns how many refusals of this kind were not logged since its last line, or -1 if this one is not logged either. */
  #suppressedBefore(kind: string): number {
    const atMs = this.#monotonicMs()
    const key = this.#outages.has(kind) || this.#outages.size < MAX_KINDS ? kind : 'other'
    const outage = this.#outages.get(key)
    if (outage === undefined) {
      this.#outages.set(key, { sinceMs: atMs, lastMs: atMs, loggedMs: atMs, suppressed: 0, refused: 1 })
      return 0
    }
    outage.lastMs = atMs
    outage.refused += 1
    if (atMs - outage.loggedMs < LINE_EVERY_MS) {
      outage.suppressed += 1
      return -1
    }
    const { suppressed } = outage
    outage.loggedMs = atMs
    outage.suppressed = 0
    return suppressed
  }
}
