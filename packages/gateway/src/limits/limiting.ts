import type { IngestSignal } from '../ingest/signals.ts'
import type { TokenRecord } from '../tokens/token-record.ts'

export interface OverLimit {
  /** Which: `traces.second.requests`, `all.day.bytes`; the label of O-4. */
  readonly limit: string
  /** The true wait, in milliseconds; of a daily quota at most an hour. */
  readonly waitMs: number
}

/** Rates and daily quotas per token. Time is an argument. */
export interface Limiting {
  /** Before the body: takes one request and the declared bytes, or nothing at all and says why. */
  take(token: TokenRecord, signal: IngestSignal, declaredBytes: number, nowMs: number): OverLimit | undefined
  /** After the body: the bytes beyond what was declared; a rate may go into debt by them. */
  settle(token: TokenRecord, signal: IngestSignal, moreBytes: number, nowMs: number): void
  /** How many processes share the limits; each takes its part. */
  setInstances(instances: number): void
}
