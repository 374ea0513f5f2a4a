import { temporarySchema } from '@penstock/testkit'
import { expect, test } from 'vitest'
import { exportByWorkers } from './many-workers.ts'

const serverUrl = process.env.PENSTOCK_TEST_DATABASE_URL
const workers = serverUrl ? 4 : 2

/** Runs on PostgreSQL if `PENSTOCK_TEST_DATABASE_URL` is set. */
test(`${workers} workers on one database export each signal of 1,000 pipelines once`, async () => {
  const schema = serverUrl ? await temporarySchema(serverUrl) : undefined
  const { faults, exports, again } = await exportByWorkers({ workers, pipelines: 1_000, databaseUrl: schema?.location })
  await schema?.remove()
  expect(faults).toEqual([])
  expect([exports, again]).toEqual([3_000, 0])
}, 300_000)
