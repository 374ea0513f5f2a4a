import { expect, test } from 'vitest'
import type { Outcome } from '../sending/outcome.ts'
import {
  afterFailure,
  afterOutcomes,
  type CircuitPolicy,
  closedCircuit,
  isOnProbation,
  untriedCircuit,
} from './circuit.ts'

const policy: CircuitPolicy = { failuresToOpen: 3, baseMs: 1_000, capMs: 60_000 }
const afterFailures = (count: number, retryAfterMs = 0) =>
  Array.from({ length: count }).reduce<typeof closedCircuit>(
    (circuit) => afterFailure(circuit, policy, retryAfterMs, 0),
    closedCircuit,
  )

test.each([
  { failures: 1, openUntilMs: 0, isProbation: false },
  { failures: 2, openUntilMs: 0, isProbation: false },
  { failures: 3, openUntilMs: 1_000, isProbation: true },
  { failures: 4, openUntilMs: 2_000, isProbation: true },
  { failures: 8, openUntilMs: 32_000, isProbation: true },
  { failures: 40, openUntilMs: 60_000, isProbation: true },
])('pauses until $openUntilMs after $failures failures', ({ failures, openUntilMs, isProbation }) => {
  const circuit = afterFailures(failures)
  expect([circuit.openUntilMs, isOnProbation(circuit, policy)]).toEqual([openUntilMs, isProbation])
})

test('applies the wait that the receiver asks for from the first failure on', () => {
  expect(afterFailures(1, 9_000).openUntilMs).toBe(9_000)
})

test('does not shorten an earlier pause after a later failure', () => {
  const circuit = afterFailure({ ...closedCircuit, failuresInARow: 1, openUntilMs: 9_000 }, policy, 0, 0)
  expect(circuit.openUntilMs).toBe(9_000)
})

test('requires one successful attempt for an untried lane, but a failure alone does not open the circuit', () => {
  const failed = afterFailure(untriedCircuit, policy, 0, 0)
  expect([untriedCircuit, failed, closedCircuit].map((circuit) => isOnProbation(circuit, policy))).toEqual([
    true,
    true,
    false,
  ])
  expect(failed.openUntilMs).toBe(0)
})

test.each<{ name: string; outcome: Outcome; isProbation: boolean }>([
  { name: 'taken', outcome: { kind: 'delivered', rejectedItems: 0, message: '' }, isProbation: false },
  { name: 'refused for what it is', outcome: { kind: 'dead', reason: '', authentication: false }, isProbation: false },
  {
    name: 'refused for its credential',
    outcome: { kind: 'dead', reason: '', authentication: true },
    isProbation: true,
  },
  {
    name: 'never sent',
    outcome: { kind: 'dead', reason: '', authentication: false, isLocal: true },
    isProbation: true,
  },
  { name: 'put off', outcome: { kind: 'retry', retryAfterMs: 0, reason: '' }, isProbation: true },
])('the first outcome is $name: on probation $isProbation', ({ outcome, isProbation }) => {
  expect(isOnProbation(afterOutcomes(untriedCircuit, policy, [outcome], 0), policy)).toBe(isProbation)
})

test('does not change without a reply of the receiver', () => {
  const ours: Outcome = { kind: 'retry', retryAfterMs: 9_000, reason: '', isLocal: true }
  for (const outcomes of [[], [ours]]) expect(afterOutcomes(untriedCircuit, policy, outcomes, 0)).toBe(untriedCircuit)
})
