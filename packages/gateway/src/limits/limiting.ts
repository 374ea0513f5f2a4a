import type { IngestSignal } from '../contract/signals.ts'
import type { TokenRecord } from '../contract/token-record.ts'

export interface OverLimit {
  /** The name of the limit, such as `traces.second.requests` or `all.day.bytes`; the label `limit` of metrics (O-4). */
  readonly limit: string
  /** The time in milliseconds until the request would fit; at most an hour for a daily quota. */
  readonly waitMs: number
}

/** Rates and daily quotas per token. */
export interface Limiting {
  /** Charges one request and its declared bytes before the body is read. Charges nothing if it returns `OverLimit`. */
  take(token: TokenRecord, signal: IngestSignal, declaredBytes: number, nowMs: number): OverLimit | undefined
  /** Charges the bytes beyond the declared length after the body was read, even if that exceeds a rate. */
  settle(token: TokenRecord, signal: IngestSignal, moreBytes: number, nowMs: number): void
  /** Sets the number of processes that share the limits; each enforces an equal part. */
  setInstances(instances: number): void
}
