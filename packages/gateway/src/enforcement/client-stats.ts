export interface Client {
  /** The network of the source: /24 or /64. */
  readonly network: string
  /** The first word of User-Agent without its version, or '' if the header is absent. */
  readonly userAgent: string
  readonly signal: string
  readonly transport: string
  readonly reason: string
  readonly tokenId: string | undefined
  /** The distinct names in the bodies that were sampled, the one of the last sample first; at most 10. */
  readonly serviceNames: readonly string[]
  readonly firstSeenMs: number
  readonly lastSeenMs: number
  readonly count: number
}

/** A report that can be sent to another process. The reports of several processes can be merged. */
export interface ClientStatsReport {
  /** The minutes that have any requests, newest first, for at most 24 hours. */
  readonly minutes: readonly { readonly startMs: number; readonly requests: number; readonly wouldReject: number }[]
  /** At most 1,000 clients. */
  readonly clients: readonly Client[]
}
