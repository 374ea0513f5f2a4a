import type { Presented, Verdict } from '../ingest/admission.ts'

/** What the readiness report remembers of each request; of fixed size whatever arrives (spec/otlp-gateway.md 4). */
export interface ClientStats {
  /** Of every judged request, in every mode. Returns whether a look into the body is wanted, to learn its `service.name`. */
  recordVerdict(presented: Presented, verdict: Verdict, nowMs: number): boolean
  /** The first 64 KiB at most of a body, inflated or not, seen after the reply was sent. */
  recordBody(presented: Presented, body: Uint8Array, contentEncoding: string): void
  report(): ClientStatsReport
}

export interface Client {
  /** Network of the source: /24 or /64. */
  readonly network: string
  /** First word of User-Agent, without its version; '' when there was none. */
  readonly userAgent: string
  readonly signal: string
  readonly transport: string
  readonly reason: string
  readonly tokenId: string | undefined
  readonly serviceName: string | undefined
  readonly firstSeenMs: number
  readonly lastSeenMs: number
  readonly count: number
}

/** Can cross a process boundary; those of several processes are added up. */
export interface ClientStatsReport {
  /** Per minute that any request fell into, newest first, at most 24 hours. */
  readonly minutes: readonly { readonly startMs: number; readonly requests: number; readonly wouldReject: number }[]
  /** At most 1,000. */
  readonly clients: readonly Client[]
}
