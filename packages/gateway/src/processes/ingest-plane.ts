import type { ClientStatsReport } from '../enforcement/client-stats.ts'
import type { WrongPath } from '../enforcement/wrong-paths.ts'
import type { MetricsReport } from '../metrics/registry.ts'

/** A process that accepts telemetry, as the management side sees it: this process or a worker. */
export interface IngestPlane {
  /** Reloads tokens and enforcement if they have changed. Resolves when the next request will use them. */
  refresh(): Promise<void>
  report(): Promise<PlaneReport>
  /** Reports as not ready, closes the ports after `delayMs`, then completes the requests in flight. */
  drain(delayMs: number): Promise<void>
}

/** A report that can be sent to another process. */
export interface PlaneReport {
  readonly metrics: MetricsReport
  readonly clientStats: ClientStatsReport
  readonly wrongPaths: readonly WrongPath[]
  /** The time since which it accepts telemetry. */
  readonly startedMs: number
  /** `stale` means that the store has been unreadable for so long that all requests are refused as retryable (T-14). */
  readonly state: 'starting' | 'ready' | 'stale' | 'draining'
  /** The store cannot be used at present. While `state` is `ready`, the gate works from memory. */
  readonly isStoreFailing: boolean
}
