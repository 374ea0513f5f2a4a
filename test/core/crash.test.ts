import { expect, test } from 'vitest'
import { crashRuns } from './crash-runs.ts'

test('killed 20 times in the midst of writes: all that was acknowledged is there, and nothing by halves', async () => {
  const { faults, kills, acknowledged, unanswered } = await crashRuns({ runs: 20, seed: 20_261_121 })
  expect(faults).toEqual([])
  expect(kills).toBe(20)
  // Else it would have been killed while it had nothing to do.
  expect(acknowledged).toBeGreaterThan(200)
  expect(unanswered).toBeGreaterThan(20)
}, 300_000)
