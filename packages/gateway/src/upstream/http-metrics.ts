import { instruments } from '../metrics/instruments.ts'
import { type Cell, type HistogramCell, type MetricRegistry, observe } from '../metrics/registry.ts'

const durationBounds = instruments.otelcol_exporter_request_duration.bounds ?? []

/** What the gateway says of one upstream, by its name (O-11). */
export class UpstreamMetrics {
  readonly #registry: MetricRegistry
  readonly #upstream: string
  readonly #sent: Cell
  readonly #inFlight: Cell
  readonly #duration: HistogramCell
  /** By error type: HTTP statuses and a handful of words. */
  readonly #failed = new Map<string, Cell>()

  constructor(registry: MetricRegistry, upstream: string) {
    this.#registry = registry
    this.#upstream = upstream
    this.#sent = registry.cell('otelcol_exporter_sent_requests', { upstream })
    this.#inFlight = registry.cell('otelcol_exporter_in_flight_requests', { upstream })
    this.#duration = registry.histogram('otelcol_exporter_request_duration', { upstream })
  }

  began(): void {
    this.#inFlight.value += 1
  }

  over(tookMs: number): void {
    this.#inFlight.value -= 1
    observe(this.#duration, durationBounds, tookMs / 1000)
  }

  accepted(): void {
    this.#sent.value += 1
  }

  /** @param errorType the HTTP status, or `unreachable`, `broke`, `slow`, `overloaded` */
  failed(errorType: string): void {
    let cell = this.#failed.get(errorType)
    if (cell === undefined) {
      cell = this.#registry.cell('otelcol_exporter_send_failed_requests', {
        upstream: this.#upstream,
        error_type: errorType,
      })
      this.#failed.set(errorType, cell)
    }
    cell.value += 1
  }
}
