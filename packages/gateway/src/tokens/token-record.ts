import type { IngestSignal } from '../ingest/signals.ts'

/** One limit: of requests and of wire bytes. Positive integers; absent is none. */
export interface Allowance {
  readonly requests?: number
  readonly bytes?: number
}

/** `all` counts every signal together, beside the signals' own. */
export type TokenLimits = Partial<
  Record<IngestSignal | 'all', { readonly second?: Allowance; readonly day?: Allowance }>
>

/** What the data path knows of a token, in memory; never the token itself. */
export interface TokenRecord {
  readonly id: string
  readonly name: string
  /** 32 bytes, HMAC-SHA-256(pepper, whole token). */
  readonly mac: Uint8Array
  readonly pepperId: string
  readonly signals: ReadonlySet<IngestSignal>
  readonly tenant: string | undefined
  /** Empty: any, and none at all. */
  readonly allowedOrigins: readonly string[]
  /** Subject alternative names of clients' certificates; empty: any, and none at all. */
  readonly certificateNames: readonly string[]
  /** May also stand in the query of a URL (T-9). */
  readonly allowQuery: boolean
  readonly limits: TokenLimits | undefined
  readonly expiresAtMs: number | undefined
  readonly revokedAtMs: number | undefined
  readonly disabled: boolean
}
