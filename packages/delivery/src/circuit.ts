import type { Outcome } from './outcome.ts'

/** When a lane that keeps failing is left alone, and for how long. */
export interface CircuitPolicy {
  /** Attempts in a row that failed for the receiver's sake before it opens. */
  readonly failuresToOpen: number
  /** Of the first pause; it doubles while the lane goes on failing. */
  readonly baseMs: number
  readonly capMs: number
}

/** Of one lane, in memory. */
export interface Circuit {
  /** Something has been taken since this process began, or refused for what it was: the receiver is at work. */
  readonly isProven: boolean
  readonly failuresInARow: number
  /** Nothing is claimed before. Then one alone is tried. */
  readonly openUntilMs: number
}

export const closedCircuit: Circuit = { isProven: true, failuresInARow: 0, openUntilMs: 0 }

/** Nobody knows yet. What waits may be a backlog because the receiver is down: batches of it would be made in vain. */
export const untriedCircuit: Circuit = { ...closedCircuit, isProven: false }

/** Whether one attempt has to succeed before others are made beside it. */
export function isOnProbation({ isProven, failuresInARow }: Circuit, { failuresToOpen }: CircuitPolicy): boolean {
  return !isProven || failuresInARow >= failuresToOpen
}

/** After attempts that were made together. */
export function afterOutcomes(
  circuit: Circuit,
  policy: CircuitPolicy,
  outcomes: readonly Outcome[],
  nowMs: number,
): Circuit {
  const theirs = outcomes.filter(({ isLocal }) => !isLocal)
  if (theirs.length === 0) return circuit
  const before = theirs.some(({ kind }) => kind === 'delivered') ? closedCircuit : circuit
  const failures = theirs.filter((outcome) => affectsLane(outcome))
  if (failures.length === 0) return { ...before, isProven: true }
  const retryAfterMs = Math.max(...failures.map((outcome) => ('retryAfterMs' in outcome ? outcome.retryAfterMs : 0)))
  return afterFailure(before, policy, retryAfterMs, nowMs)
}

/** Whether the next delivery of the lane would fare alike: the receiver is down, busy, or refuses the credential. */
function affectsLane(outcome: Outcome): boolean {
  return outcome.kind === 'retry' || (outcome.kind === 'dead' && outcome.authentication)
}

/** `retryAfterMs`: what the receiver asked for, 0 when nothing; it holds for the whole lane, even after a single failure. */
export function afterFailure(circuit: Circuit, policy: CircuitPolicy, retryAfterMs: number, nowMs: number): Circuit {
  const failuresInARow = circuit.failuresInARow + 1
  const beyond = failuresInARow - policy.failuresToOpen
  const pauseMs = beyond < 0 ? 0 : Math.min(policy.capMs, policy.baseMs * 2 ** beyond)
  return {
    ...circuit,
    failuresInARow,
    openUntilMs: Math.max(circuit.openUntilMs, nowMs + Math.max(pauseMs, retryAfterMs)),
  }
}
