import type { TokenRecord } from './token-record.ts'

export type EnforcementMode = 'off' | 'report' | 'warn' | 'enforce'

/**
 * Everything an admission depends on, at one epoch. Immutable; replaced as a whole (T-10).
 */
export interface Snapshot {
  readonly epoch: number
  readonly mode: EnforcementMode
  /** Until then refusals are retryable (E-6). */
  readonly graceUntilMs: number | undefined
  /** Live ones, and revoked ones of the last 30 days. */
  readonly byId: ReadonlyMap<string, TokenRecord>
  /** Imported tokens have no visible id: by hex of their MAC (T-15). */
  readonly byMac: ReadonlyMap<string, TokenRecord>
  /** When the store last confirmed it, in milliseconds of the clock. */
  readonly confirmedAtMs: number
}
