import { temporarySchema } from '@penstock/testkit'
import { expect, test } from 'vitest'
import { killRuns } from './kill-runs.ts'

/** Runs on PostgreSQL if `PENSTOCK_TEST_DATABASE_URL` is set. */
test('exports every acknowledged record after 20 kills, and repeats an export only if a reply was lost', async () => {
  const serverUrl = process.env.PENSTOCK_TEST_DATABASE_URL
  const schema = serverUrl ? await temporarySchema(serverUrl) : undefined
  const result = await killRuns({
    kills: 20,
    seed: 20_261_121,
    perSecond: 100,
    maxPerLife: 80,
    skipsWaits: true,
    checkEvery: 1,
    databaseUrl: schema?.location,
  })
  await schema?.remove()
  expect(result.faults).toEqual([])
  expect(result.kills).toBe(20)
  // Otherwise the kills and the failures of the upstream have not affected anything.
  expect(result.acknowledged).toBeGreaterThan(300)
  expect(result.extras.map(({ cause }) => cause)).toEqual(expect.arrayContaining(['crash', 'reset']))
  const lost = Object.values(result.lostAnswers).reduce((sum, count) => sum + count, 0)
  expect(result.extras.length).toBeLessThanOrEqual(lost)
}, 300_000)
