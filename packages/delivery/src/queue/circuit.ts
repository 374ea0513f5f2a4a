import type { Outcome } from '../sending/outcome.ts'

/** The policy that decides when a failing lane is paused, and for how long. */
export interface CircuitPolicy {
  /** The number of consecutive failures caused by the receiver after which the circuit opens. */
  readonly failuresToOpen: number
  /** The length of the first pause; it doubles with each further failure. */
  readonly baseMs: number
  readonly capMs: number
}

/** The circuit breaker of one lane, kept in memory. */
export interface Circuit {
  /** Whether the receiver has accepted a delivery, or refused one for its content, since this process started. */
  readonly isProven: boolean
  readonly failuresInARow: number
  /** Nothing is claimed before this time. Then a single delivery is tried. */
  readonly openUntilMs: number
}

export const closedCircuit: Circuit = { isProven: true, failuresInARow: 0, openUntilMs: 0 }

/**
 * The state of a lane that this process has not used yet. Its backlog may exist because the receiver is down, so one
 * delivery is tried before batches.
 */
export const untriedCircuit: Circuit = { ...closedCircuit, isProven: false }

/** Returns whether a single attempt must succeed before others are made at the same time. */
export function isOnProbation({ isProven, failuresInARow }: Circuit, { failuresToOpen }: CircuitPolicy): boolean {
  return !isProven || failuresInARow >= failuresToOpen
}

/** Returns the circuit after attempts that were made together. */
export function afterOutcomes(
  circuit: Circuit,
  policy: CircuitPolicy,
  outcomes: readonly Outcome[],
  nowMs: number,
): Circuit {
  const receiverOutcomes = outcomes.filter(({ isLocal }) => !isLocal)
  if (receiverOutcomes.length === 0) return circuit
  const before = receiverOutcomes.some(({ kind }) => kind === 'delivered') ? closedCircuit : circuit
  const failures = receiverOutcomes.filter((outcome) => affectsLane(outcome))
  if (failures.length === 0) return { ...before, isProven: true }
  const retryAfterMs = Math.max(...failures.map((outcome) => ('retryAfterMs' in outcome ? outcome.retryAfterMs : 0)))
  return afterFailure(before, policy, retryAfterMs, nowMs)
}

/** Returns whether the next delivery of the lane would fail too: the receiver is down or busy, or refuses the credential. */
function affectsLane(outcome: Outcome): boolean {
  return outcome.kind === 'retry' || (outcome.kind === 'dead' && outcome.authentication)
}

/**
 * Returns the circuit after a failure.
 * @param retryAfterMs the wait that the receiver asked for, else 0; it pauses the whole lane even after a single failure
 */
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
