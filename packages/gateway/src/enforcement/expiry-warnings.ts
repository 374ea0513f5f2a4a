const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** The times before its expiry at which a token gets a notice (O-9). */
export const warningStepsMs: readonly number[] = [14 * DAY_MS, 7 * DAY_MS, 3 * DAY_MS, DAY_MS, HOUR_MS]
export const LONGEST_STEP_MS = 14 * DAY_MS

/**
 * The step of a token's last notice, which says that the token has expired. It is also stored in the column
 * `expiry_warned_ms`.
 */
export const ENDED = -1

/** A token that has an expiry and is not revoked. */
export interface ExpiringToken {
  readonly id: string
  readonly name: string
  readonly createdAtMs: number
  readonly expiresAtMs: number
  readonly disabled: boolean
  /** The step of the last notice, 0 if no notice is wanted before the expiry, or `ENDED`. */
  readonly warnedMs: number | undefined
}

export interface ExpiryNotice {
  readonly token: ExpiringToken
  /** A step in milliseconds, or `ENDED`. */
  readonly stepMs: number
  /** True if no currently valid token expires later. */
  readonly isLast: boolean
}

/**
 * Returns the notices that are due, at most one per token: if several steps have passed, the most urgent one (O-9).
 * There is no notice before the expiry if the token is disabled or if the step is longer than the token's lifetime. The
 * expiry itself always gives a notice.
 *
 * `lastEndMs` is when the last valid token expires: `undefined` if one never expires, 0 if none is valid.
 */
export function dueNotices(
  tokens: readonly ExpiringToken[],
  lastEndMs: number | undefined,
  nowMs: number,
): ExpiryNotice[] {
  return tokens.flatMap((token) => {
    const stepMs = dueStepMs(token, nowMs)
    if (stepMs === undefined || (token.warnedMs !== undefined && token.warnedMs <= stepMs)) return []
    return [{ token, stepMs, isLast: lastEndMs !== undefined && token.expiresAtMs >= lastEndMs }]
  })
}

function dueStepMs({ expiresAtMs, createdAtMs, disabled }: ExpiringToken, nowMs: number): number | undefined {
  const leftMs = expiresAtMs - nowMs
  if (leftMs <= 0) return ENDED
  if (disabled) return undefined
  return warningStepsMs.findLast((stepMs) => leftMs <= stepMs && stepMs < expiresAtMs - createdAtMs)
}
