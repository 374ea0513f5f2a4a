import type { DeliveryLimits } from './delivery.ts'

/** What is kept. */
export interface StoreBounds {
  /** How long anything is kept after it arrived, whatever time it bears. Default 7 days. */
  readonly retentionMs: number
  /** The database file; the oldest goes to make room. The write-ahead log beside it takes a few MiB more. Default 1 GiB. */
  readonly maxFileBytes: number
}

export interface ObserveLimits extends StoreBounds, DeliveryLimits {
  /** Request bodies that wait to be written, as they arrived. Default 64 MiB. */
  readonly maxWaitingBytes: number
  /** Queries that wait for their turn. Default 100. */
  readonly maxWaitingQueries: number
  /** The memory of the thread that decodes and writes, apart from the bodies. Default 1 GiB. */
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
