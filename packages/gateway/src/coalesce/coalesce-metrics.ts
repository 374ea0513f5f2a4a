import { instruments } from '../metrics/instruments.ts'
import { type Cell, type HistogramCell, type MetricRegistry, observe } from '../metrics/registry.ts'

const bodyBounds = instruments.otelcol_ingestauth_coalesced_requests.bounds ?? []

/** The metrics of the coalescer (O-12). */
export class CoalesceMetrics {
  readonly #bodies: HistogramCell
  readonly #splits: Readonly<Record<'rejected' | 'too_large', Cell>>
  readonly #repeats: Cell

  constructor(registry: MetricRegistry) {
    this.#bodies = registry.histogram('otelcol_ingestauth_coalesced_requests')
    this.#splits = {
      rejected: registry.cell('otelcol_ingestauth_coalesce_splits', { cause: 'rejected' }),
      too_large: registry.cell('otelcol_ingestauth_coalesce_splits', { cause: 'too_large' }),
    }
    this.#repeats = registry.cell('otelcol_ingestauth_coalesce_duplicates_possible')
  }

  /** Counts one upstream request with this number of bodies. */
  sent(bodies: number): void {
    observe(this.#bodies, bodyBounds, bodies)
  }

  split(cause: 'rejected' | 'too_large'): void {
    this.#splits[cause].value += 1
  }

  countPossibleDuplicates(bodies: number): void {
    this.#repeats.value += bodies
  }
}
