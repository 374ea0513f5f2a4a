import type { Log } from '@penstock/runtime'
import { countersOnly, mergeReports } from '../metrics/merge-reports.ts'
import type { MetricsReport } from '../metrics/registry.ts'
import type { IngestPlane, PlaneReport } from './ingest-plane.ts'

/**
 * Collects the reports of the planes. For a plane that has ended or does not answer, the totals of its last report are
 * kept, so that counters never fall. Its counts after that report are lost.
 */
export class PlaneReports {
  readonly #planes: () => readonly IngestPlane[]
  readonly #log: Log
  readonly #lastMetrics = new Map<IngestPlane, MetricsReport>()
  /** The merged totals of all planes that have ended. */
  #ended: MetricsReport = { cells: [], histograms: [] }

  constructor(planes: () => readonly IngestPlane[], log: Log) {
    this.#planes = planes
    this.#log = log
  }

  /** Returns the reports of the planes that answer. */
  async all(): Promise<PlaneReport[]> {
    return [...(await this.#collect()).values()]
  }

  /** Returns the metrics of all planes, to be merged. */
  async metrics(): Promise<MetricsReport[]> {
    const answered = await this.#collect()
    this.#mergeEnded()
    const living = [...this.#lastMetrics].map(([plane, last]) => (answered.has(plane) ? last : countersOnly(last)))
    return [this.#ended, ...living]
  }

  async #collect(): Promise<ReadonlyMap<IngestPlane, PlaneReport>> {
    const answered = new Map<IngestPlane, PlaneReport>()
    await Promise.all(
      this.#planes().map(async (plane) => {
        try {
          const report = await plane.report()
          answered.set(plane, report)
          // An answer may arrive after its plane has ended, when its totals are already among those of ended planes.
          if (this.#planes().includes(plane)) this.#lastMetrics.set(plane, report.metrics)
        } catch (error) {
          this.#log.warn({ event: 'report.missing', err: error }, 'a process did not send its report')
        }
      }),
    )
    return answered
  }

  #mergeEnded(): void {
    const living = this.#planes()
    for (const [plane, last] of this.#lastMetrics) {
      if (living.includes(plane)) continue
      this.#ended = mergeReports([this.#ended, countersOnly(last)])
      this.#lastMetrics.delete(plane)
    }
  }
}
