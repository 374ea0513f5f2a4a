import { temporarySchema } from '@penstock/testkit'
import { expect, test } from 'vitest'
import { crashRuns } from './crash-runs.ts'

test('after 20 kills during writes, all acknowledged writes are stored, and none is stored partially', async () => {
  const serverUrl = process.env.PENSTOCK_TEST_DATABASE_URL
  const schema = serverUrl ? await temporarySchema(serverUrl) : undefined
  const seed = 20_261_121
  const { faults, kills, acknowledged, unanswered } = await crashRuns({
    runs: 20,
    seed,
    ...(schema && { databaseUrl: schema.location }),
  })
  await schema?.remove()
  expect(faults).toEqual([])
  expect(kills).toBe(20)
  // Fewer would mean that the core was killed while idle.
  expect(acknowledged).toBeGreaterThan(200)
  expect(unanswered).toBeGreaterThan(20)
}, 300_000)
