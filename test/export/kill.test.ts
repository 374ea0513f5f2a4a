import { temporarySchema } from '@penstock/testkit'
import { expect, test } from 'vitest'
import { killRuns } from './kill-runs.ts'

/** `PENSTOCK_TEST_DATABASE_URL` makes it PostgreSQL. */
test('killed 20 times in the midst of intake and export: what was acknowledged is exported, and twice only where an answer was lost', async () => {
  const serverUrl = process.env.PENSTOCK_TEST_DATABASE_URL
  const schema = serverUrl ? await temporarySchema(serverUrl) : undefined
  const result = await killRuns({
    kills: 20,
    seed: 20_261_121,
    perSecond: 100,
    mostPerLife: 80,
    hastened: true,
    lookEvery: 1,
    databaseUrl: schema?.location,
  })
  await schema?.remove()
  expect(result.faults).toEqual([])
  expect(result.kills).toBe(20)
  // Else neither the kills nor the moods of the upstream have hit anything.
  expect(result.acknowledged).toBeGreaterThan(300)
  expect(result.extras.map(({ cause }) => cause)).toEqual(expect.arrayContaining(['crash', 'reset']))
  const lost = Object.values(result.lostAnswers).reduce((sum, count) => sum + count, 0)
  expect(result.extras.length).toBeLessThanOrEqual(lost)
}, 300_000)
