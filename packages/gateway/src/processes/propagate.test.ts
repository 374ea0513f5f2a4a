import { jsonLog } from '@penstock/runtime'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { MetricRegistry } from '../metrics/registry.ts'
import { publishEpoch } from '../store/instances.ts'
import { TemporaryGateway } from '../store/temporary-gateway.harness.ts'
import { currentEpoch } from '../tokens/load-snapshot.ts'
import type { IngestPlane } from './ingest-plane.ts'
import { propagate } from './propagate.ts'

let gateway: TemporaryGateway
let lines: string[]
beforeEach(async () => {
  gateway = await TemporaryGateway.open()
  lines = []
})
afterEach(() => gateway.close())

const planeOf = (refresh: () => Promise<void>): IngestPlane =>
  ({ refresh, report: () => Promise.reject(new Error('not asked')), drain: async () => {} }) as IngestPlane

/** Runs a propagation. Whenever everything sleeps, the clock advances. */
async function propagated(planes: readonly IngestPlane[], during: (nowMs: number) => Promise<void> = async () => {}) {
  const { db, clock } = gateway
  const metrics = new MetricRegistry()
  const log = jsonLog({ write: (line) => lines.push(line) }, () => clock.nowMs())
  const startMs = clock.nowMs()
  let result: Awaited<ReturnType<typeof propagate>> | undefined
  const done = propagate({ db, clock, log, metrics, planes: () => planes }).then((value) => {
    result = value
  })
  while (result === undefined) {
    await Promise.race([done, clock.untilSleeping()])
    if (result !== undefined) break
    await during(clock.nowMs() - startMs)
    await clock.advance(25)
  }
  return { result: result as { instances: number; applied: number }, tookMs: clock.nowMs() - startMs, metrics }
}

/** Commits a change, and returns its epoch. */
async function changed(): Promise<number> {
  await gateway.db.write((tx) =>
    tx
      .updateTable('enforcement')
      .set((eb) => ({ epoch: eb('epoch', '+', 1) }))
      .execute(),
  )
  return currentEpoch(gateway.db)
}

test('T-13: a process that can be notified directly runs the change before the answer, without delay', async () => {
  const { db, clock } = gateway
  const epoch = await changed()
  const plane = planeOf(() => publishEpoch(db, 'ours', epoch, clock.nowMs()))
  const { result, tookMs, metrics } = await propagated([plane])
  expect({ result, tookMs }).toEqual({ result: { instances: 1, applied: 1 }, tookMs: 0 })
  expect(JSON.stringify(metrics.report())).toContain('otelcol_ingestauth_propagation_seconds')
})

test('T-13: waits for other processes until they have polled', async () => {
  const { db, clock } = gateway
  const before = await currentEpoch(db)
  await publishEpoch(db, 'theirs', before, clock.nowMs())
  const epoch = await changed()
  const { result, tookMs } = await propagated([], async (passedMs) => {
    if (passedMs >= 400) await publishEpoch(db, 'theirs', epoch, clock.nowMs())
  })
  expect(result).toEqual({ instances: 1, applied: 1 })
  expect(tookMs).toBe(425)
})

test('T-13: waits at most 2 s for a process that hangs; the answer counts it, and no propagation time is recorded', async () => {
  const { db, clock } = gateway
  await publishEpoch(db, 'hangs', await currentEpoch(db), clock.nowMs())
  const epoch = await changed()
  const plane = planeOf(() => publishEpoch(db, 'ours', epoch, clock.nowMs()))
  const { result, tookMs, metrics } = await propagated([plane])
  expect({ result, tookMs }).toEqual({ result: { instances: 2, applied: 1 }, tookMs: 2_000 })
  expect(JSON.stringify(metrics.report())).not.toContain('otelcol_ingestauth_propagation_seconds')
})

test('T-13: a process that has been silent for 10 s is not waited for', async () => {
  const { db, clock } = gateway
  await publishEpoch(db, 'gone', await currentEpoch(db), clock.nowMs())
  await clock.advance(10_000)
  await changed()
  expect(await propagated([])).toMatchObject({ result: { instances: 0, applied: 0 }, tookMs: 0 })
})

test('a process that cannot be notified is logged, and the change stays committed', async () => {
  const { db, clock } = gateway
  const epoch = await changed()
  const failing = planeOf(() => Promise.reject(new Error('the worker has ended')))
  const plane = planeOf(() => publishEpoch(db, 'ours', epoch, clock.nowMs()))
  const { result } = await propagated([failing, plane])
  expect(result).toEqual({ instances: 1, applied: 1 })
  expect(lines.map((line) => JSON.parse(line).event)).toEqual(['propagation.failed'])
})
