import type { IngestSignal } from './signals.ts'

/** A limit on requests and on wire bytes. The values are positive integers; an absent value means no limit. */
export interface Allowance {
  readonly requests?: number
  readonly bytes?: number
}

/** `all` limits all signals together, in addition to the limit of each signal. */
export type TokenLimits = Partial<
  Record<IngestSignal | 'all', { readonly second?: Allowance; readonly day?: Allowance }>
>

/** A token as the data path has it in memory. It does not contain the token itself. */
export interface TokenRecord {
  readonly id: string
  readonly name: string
  /** 32 bytes, HMAC-SHA-256(pepper, whole token). */
  readonly mac: Uint8Array
  readonly pepperId: string
  readonly signals: ReadonlySet<IngestSignal>
  readonly tenant: string | undefined
  /**
   * The origins from which the token may be used. If the list is empty, any origin is allowed, and so is a request
   * without one.
   */
  readonly allowedOrigins: readonly string[]
  /**
   * Subject alternative names of client certificates. If the list is empty, any certificate is allowed, and so is a
   * client without one.
   */
  readonly certificateNames: readonly string[]
  /** The token may also be sent in the query of a URL (T-9). */
  readonly allowQuery: boolean
  readonly limits: TokenLimits | undefined
  readonly expiresAtMs: number | undefined
  readonly revokedAtMs: number | undefined
  readonly disabled: boolean
}
