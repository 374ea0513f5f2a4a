import type { RequestLimits } from './received-request.ts'

/** The limits on stored telemetry. */
export interface StoreBounds {
  /** How long an item is kept after it arrived, whatever its own time. Default 7 days. */
  readonly retentionMs: number
  /**
   * The limit on the database file; the oldest items are deleted to stay within it. The write-ahead log takes a few MiB
   * more. Default 1 GiB.
   */
  readonly maxFileBytes: number
}

export interface ObserveLimits extends StoreBounds, RequestLimits {
  /** The limit on request bodies that wait to be written, as they arrived. Default 64 MiB. */
  readonly maxWaitingBytes: number
  /** The number of queries that may wait. Default 100. */
  readonly maxWaitingQueries: number
  /** The heap limit of the thread that decodes and writes, without the bodies. Default 1 GiB. */
  readonly writerHeapBytes: number
}

const MIB = 1024 * 1024

export const defaultObserveLimits: ObserveLimits = {
  retentionMs: 7 * 24 * 3_600_000,
  maxFileBytes: 1024 * MIB,
  maxBodyBytes: 64 * MIB,
  maxElements: 500_000,
  maxWaitingBytes: 64 * MIB,
  maxWaitingQueries: 100,
  writerHeapBytes: 1024 * MIB,
}
