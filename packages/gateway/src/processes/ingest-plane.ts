import type { ClientStatsReport } from '../enforcement/client-stats.ts'
import type { MetricsReport } from '../metrics/registry.ts'

/** What takes telemetry in, seen from what manages it: in this process, or in a worker. */
export interface IngestPlane {
  /** Reads tokens and enforcement anew if they have changed; resolves when the next request will obey them. */
  refresh(): Promise<void>
  report(): Promise<PlaneReport>
  /** Not ready at once, ports closed after `delayMs`; then what is under way is answered. */
  drain(delayMs: number): Promise<void>
}

/** Can cross a process boundary. */
export interface PlaneReport {
  readonly metrics: MetricsReport
  readonly clientStats: ClientStatsReport
  /** Since when it has taken telemetry in. */
  readonly startedMs: number
  /** `blind`: the store could not be read for so long that nobody is judged any more (T-14). */
  readonly state: 'starting' | 'ready' | 'blind' | 'draining'
  /** The store cannot be used at present; while `ready`, the gate works from memory. */
  readonly isStoreFailing: boolean
}
