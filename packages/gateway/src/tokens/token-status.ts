export type TokenStatus = 'valid' | 'disabled' | 'expired' | 'revoked'

/** The fields of a token that decide its status. */
interface StatusInput {
  readonly revokedAtMs: number | null | undefined
  readonly expiresAtMs: number | null | undefined
  readonly disabled: boolean
}

/**
 * Returns the first status that applies, in the order revoked, expired, disabled, for refusals and the API alike. Expiry
 * has no leeway (E-8).
 */
export function statusAt({ revokedAtMs, expiresAtMs, disabled }: StatusInput, nowMs: number): TokenStatus {
  if (revokedAtMs != null) return 'revoked'
  if (expiresAtMs != null && nowMs >= expiresAtMs) return 'expired'
  return disabled ? 'disabled' : 'valid'
}
