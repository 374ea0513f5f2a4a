const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** How long before its end a token is announced as ending (O-9). */
export const warningStepsMs: readonly number[] = [14 * DAY_MS, 7 * DAY_MS, 3 * DAY_MS, DAY_MS, HOUR_MS]
export const LONGEST_STEP_MS = 14 * DAY_MS

/** Stands for the last of all notices, that a token has ended; in the column `expiry_warned_ms` as well. */
export const ENDED = -1

/** A token that has not been revoked and has an end. */
export interface ExpiringToken {
  readonly id: string
  readonly name: string
  readonly createdAtMs: number
  readonly expiresAtMs: number
  readonly disabled: boolean
  /** The notice given last: a step, 0 when none is wanted before the end, or `ENDED`. */
  readonly warnedMs: number | undefined
}

export interface ExpiryNotice {
  readonly token: ExpiringToken
  /** A step, or `ENDED`. */
  readonly stepMs: number
  /** No token that is valid now outlives it. */
  readonly isLast: boolean
}

/**
 * Which notices are due, at most one for each token: of several steps passed at once the most urgent. Nobody is warned
 * of the end of a disabled token, nor by a step longer than the token's whole life, but its end is told.
 *
 * `lastEndMs`: when the last of the valid tokens ends; `undefined` when one never does, 0 when none is valid.
 *
 * @see spec/otlp-gateway.md 8 O-9, 3.3 A-5
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
