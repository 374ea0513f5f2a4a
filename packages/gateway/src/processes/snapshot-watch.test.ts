import { jsonLog } from '@penstock/runtime'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { listLiveInstances } from '../store/instances.ts'
import { TemporaryGateway } from '../store/temporary-gateway.harness.ts'
import { createToken, revokeToken } from '../tokens/token-operations.ts'
import { SnapshotWatch } from './snapshot-watch.ts'

let gateway: TemporaryGateway
let watch: SnapshotWatch
let lines: string[]
beforeEach(async () => {
  gateway = await TemporaryGateway.open()
  lines = []
  const { db, clock } = gateway
  const log = jsonLog({ write: (line) => lines.push(line) }, () => clock.nowMs())
  watch = new SnapshotWatch({ db, clock, random: () => 0, log, instanceId: 'ours' })
})
afterEach(() => gateway.close())

const events = () => lines.map((line) => JSON.parse(line).event)
const statusesOf = () => [...watch.current!.byId.values()].map(({ revokedAtMs }) => revokedAtMs !== undefined)

/** Runs one poll. */
async function poll(): Promise<void> {
  await gateway.clock.advance(1_000)
  await gateway.clock.untilSleeping()
}

/** Renames the table that every poll reads, to imitate a damaged file. Returns a function that restores it. */
async function loseStore(): Promise<() => Promise<void>> {
  const rename = (from: string, to: string) =>
    gateway.db.write((tx) => tx.schema.alterTable(from).renameTo(to).execute())
  await rename('enforcement', 'lost')
  return () => rename('lost', 'enforcement')
}

test('E-10: there is no snapshot before the store has been read', async () => {
  expect(watch.current).toBeUndefined()
  await watch.refresh()
  expect(watch.current).toMatchObject({ mode: 'off', confirmedAtMs: gateway.clock.monotonicMs() })
})

test('T-13: a change by another process is loaded with the next poll, within a second', async () => {
  const running = watch.run()
  await gateway.clock.untilSleeping()
  const { id } = await createToken(gateway.as('Admin', {}, await gateway.openAnother()), { name: 'theirs' })
  expect(watch.current!.byId.size).toBe(0)
  await poll()
  expect([...watch.current!.byId.keys()]).toEqual([id])
  await revokeToken(gateway.as('Admin', {}, await gateway.openAnother()), { id })
  await poll()
  expect(statusesOf()).toEqual([true])
  await watch.close()
  await running
})

test.runIf(process.env.PENSTOCK_TEST_DATABASE_URL)(
  'T-13: on PostgreSQL, an announced change is loaded before the next poll',
  async () => {
    const running = watch.run()
    await gateway.clock.untilSleeping()
    const { id } = await createToken(gateway.as('Admin', {}, await gateway.openAnother()), { name: 'theirs' })
    await expect.poll(() => watch.current?.byId.has(id)).toBe(true)
    expect(watch.current!.confirmedAtMs).toBe(gateway.clock.monotonicMs())
    await watch.close()
    await running
  },
)

test('T-10: while nothing changes, the tokens are not read again and the snapshot is confirmed', async () => {
  await createToken(gateway.as('Admin'), { name: 'one' })
  const running = watch.run()
  await gateway.clock.untilSleeping()
  const before = watch.current!
  await poll()
  expect(watch.current!.byId).toBe(before.byId)
  expect(watch.current!.confirmedAtMs).toBe(before.confirmedAtMs + 1_000)
  await watch.close()
  await running
})

test('T-13: a refresh requested during another one reads after the change that its caller committed', async () => {
  await watch.refresh()
  const early = watch.refresh()
  const { id } = await createToken(gateway.as('Admin'), { name: 'late' })
  await watch.refresh()
  expect([...watch.current!.byId.keys()]).toEqual([id])
  await early
})

test('T-14: without the store the last snapshot stays and ages; each outage is logged once', async () => {
  await createToken(gateway.as('Admin'), { name: 'kept' })
  const running = watch.run()
  await gateway.clock.untilSleeping()
  const known = watch.current!
  const restore = await loseStore()
  for (let turn = 0; turn < 5; turn += 1) await poll()
  // On PostgreSQL, the announcement of the token may have confirmed the same snapshot once more before the loss.
  expect(watch.current).toEqual(known)
  expect(watch.current!.byId).toBe(known.byId)
  expect(watch.isFailing).toBe(true)
  expect(events()).toEqual(['store.unreadable'])

  await restore()
  await poll()
  expect(watch.isFailing).toBe(false)
  expect(watch.current!.confirmedAtMs).toBe(gateway.clock.monotonicMs())
  expect(events()).toEqual(['store.unreadable', 'store.recovered'])

  await loseStore()
  await poll()
  expect(events()).toEqual(['store.unreadable', 'store.recovered', 'store.unreadable'])
  await watch.close()
  await running
})

test('T-13: publishes its epoch, stays live while it polls, and is removed when it is closed', async () => {
  const { db, clock } = gateway
  const running = watch.run()
  await clock.untilSleeping()
  const { epoch } = watch.current!
  for (let turn = 0; turn < 15; turn += 1) await poll()
  expect(await listLiveInstances(db, clock.nowMs())).toEqual([{ id: 'ours', epoch }])
  await createToken(gateway.as('Admin'), { name: 'new' })
  await poll()
  expect(await listLiveInstances(db, clock.nowMs())).toEqual([{ id: 'ours', epoch: epoch + 1 }])
  await watch.close()
  await running
  expect(await listLiveInstances(db, clock.nowMs())).toEqual([])
})
