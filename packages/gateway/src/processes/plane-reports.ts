import type { Log } from '@penstock/runtime'
import { mergeReports, countersOnly } from '../metrics/merge-reports.ts'
import type { MetricsReport } from '../metrics/registry.ts'
import type { IngestPlane, PlaneReport } from './ingest-plane.ts'

/**
 * What the planes report. Of one that has ended, or does not answer, the totals stay that it reported last, so that
 * counters never fall; what it has counted since is lost.
 */
export class PlaneReports {
  readonly #planes: () => readonly IngestPlane[]
  readonly #log: Log
  readonly #lastMetrics = new Map<IngestPlane, MetricsReport>()
  /** Of all that have ended, in one. */
  #ended: MetricsReport = { cells: [], histograms: [] }

  constructor(planes: () => readonly IngestPlane[], log: Log) {
    this.#planes = planes
    this.#log = log
  }

  /** Of all that answer. */
  async all(): Promise<PlaneReport[]> {
    return [...(await this.#collect()).values()]
  }

  /** To be added up. */
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
          // An answer may come in after its plane has ended, and been added to those that have.
          if (this.#planes().includes(plane)) this.#lastMetrics.set(plane, report.metrics)
        } catch (error) {
          this.#log.warn({ event: 'report.missing', err: error }, 'a process does not report')
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
