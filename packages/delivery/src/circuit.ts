/** When a lane that keeps failing is left alone, and for how long. */
export interface CircuitPolicy {
  /** Attempts in a row that failed for the receiver's sake before it opens. */
  readonly failuresToOpen: number
  /** Of the first pause; it doubles while the lane goes on failing. */
  readonly baseMs: number
  readonly capMs: number
}

/** Of one lane, in memory: whoever starts anew tries once, and knows. */
export interface Circuit {
  readonly failuresInARow: number
  /** Nothing is claimed before. Then one alone is tried. */
  readonly openUntilMs: number
}

export const closedCircuit: Circuit = { failuresInARow: 0, openUntilMs: 0 }

/** Whether one attempt has to succeed before others are made beside it. */
export function isOnProbation({ failuresInARow }: Circuit, { failuresToOpen }: CircuitPolicy): boolean {
  return failuresInARow >= failuresToOpen
}

/** `retryAfterMs`: what the receiver asked for, 0 when nothing; it holds for the whole lane, even after a single failure. */
export function afterFailure(circuit: Circuit, policy: CircuitPolicy, retryAfterMs: number, nowMs: number): Circuit {
  const failuresInARow = circuit.failuresInARow + 1
  const beyond = failuresInARow - policy.failuresToOpen
  const pauseMs = beyond < 0 ? 0 : Math.min(policy.capMs, policy.baseMs * 2 ** beyond)
  return { failuresInARow, openUntilMs: Math.max(circuit.openUntilMs, nowMs + Math.max(pauseMs, retryAfterMs)) }
}
