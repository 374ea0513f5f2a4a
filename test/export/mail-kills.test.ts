import { expect, test } from 'vitest'
import { mailKillRuns } from './mail-kill-runs.ts'

test('no mail is lost in 20 kills, and only those arrive twice that were sent when a kill came', async () => {
  const result = await mailKillRuns({ kills: 20, seed: 20_261_128, perSecond: 50, maxPerLife: 40 })
  expect(result.faults).toEqual([])
  expect(result.acknowledged).toBeGreaterThan(100)
  expect(result.received).toBeGreaterThanOrEqual(2 * result.acknowledged)
}, 600_000)
