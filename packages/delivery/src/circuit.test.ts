import { expect, test } from 'vitest'
import { afterFailure, type CircuitPolicy, closedCircuit, isOnProbation } from './circuit.ts'

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
])('after $failures failures: left alone until $openUntilMs', ({ failures, openUntilMs, isProbation }) => {
  const circuit = afterFailures(failures)
  expect([circuit.openUntilMs, isOnProbation(circuit, policy)]).toEqual([openUntilMs, isProbation])
})

test('what the receiver asks for holds from the first failure on', () => {
  expect(afterFailures(1, 9_000).openUntilMs).toBe(9_000)
})

test('a later failure does not end an earlier pause', () => {
  const circuit = afterFailure({ failuresInARow: 1, openUntilMs: 9_000 }, policy, 0, 0)
  expect(circuit.openUntilMs).toBe(9_000)
})
