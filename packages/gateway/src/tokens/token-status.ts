export type TokenStatus = 'valid' | 'disabled' | 'expired' | 'revoked'

/** What of a token decides whether it is in force. */
interface StatusInput {
  readonly revokedAtMs: number | null | undefined
  readonly expiresAtMs: number | null | undefined
  readonly disabled: boolean
}

/**
 * In the order in which the states hide one another, for the client that is refused as for the API. Expiry has no
 * leeway (E-8).
 */
export function statusAt({ revokedAtMs, expiresAtMs, disabled }: StatusInput, nowMs: number): TokenStatus {
  if (revokedAtMs != null) return 'revoked'
  if (expiresAtMs != null && nowMs >= expiresAtMs) return 'expired'
  return disabled ? 'disabled' : 'valid'
}
