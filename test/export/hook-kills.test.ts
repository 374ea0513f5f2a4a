import { expect, test } from 'vitest'
import { hookKillRuns } from './hook-kill-runs.ts'

test('every acknowledged change calls its hooks once after 20 kills, or the log says that the answer is unknown', async () => {
  const result = await hookKillRuns({ kills: 20, seed: 20_261_123, perSecond: 100, maxPerLife: 60 })
  expect(result.faults).toEqual([])
  expect(result.acknowledged).toBeGreaterThan(200)
  // Otherwise no kill has hit a request.
  expect(result.unknown).toBeGreaterThan(0)
}, 600_000)
