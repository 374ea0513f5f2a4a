import type { TokenRecord } from './token-record.ts'

export type EnforcementMode = 'off' | 'report' | 'warn' | 'enforce'

/** The tokens and the mode, as they are stored. */
export type StoredSnapshot = Omit<Snapshot, 'confirmedAtMs'>

/** Everything that an admission depends on, at one epoch. Immutable; it is replaced as a whole (T-10). */
export interface Snapshot {
  readonly epoch: number
  readonly mode: EnforcementMode
  /** Until this time refusals are retryable (E-6). */
  readonly graceUntilMs: number | undefined
  /** Tokens that are not revoked, and those revoked in the last 30 days. */
  readonly byId: ReadonlyMap<string, TokenRecord>
  /** Imported tokens by the hex of their MAC, because they contain no id (T-15). */
  readonly byMac: ReadonlyMap<string, TokenRecord>
  /** The time of the monotonic clock at which the store last confirmed this snapshot. */
  readonly confirmedAtMs: number
}
