import { randomBytes } from 'node:crypto'
import { type CoreTables, migrateCore } from '@penstock/core'
import { type Db, openDatabase } from '@penstock/db'
import { type Clock, systemClock } from '@penstock/runtime'
import { temporarySchema } from '@penstock/testkit'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { withRepositoryLock } from '../../packages/core/src/base/git/repository-lock.ts'
import { describeWithPostgres } from './describe-with-postgres.ts'

const REPOSITORY = '5'
/** The identity of a process on another host. */
const ELSEWHERE = 'boot-of-another-host/pid:[1] 1 1'
const LEASE_MS = 15_000
const AHEAD_MS = 3 * 3_600_000

describeWithPostgres('the lock of a repository that several hosts share', (serverUrl) => {
  let location: string
  let db: Db<CoreTables>

  const open = () => {
    const opened = openDatabase<CoreTables>(location)
    onTestFinished(() => opened.close())
    return opened
  }

  beforeEach(async () => {
    const schema = await temporarySchema(serverUrl())
    onTestFinished(() => schema.remove())
    location = schema.location
    db = open()
    await migrateCore(db)
  })

  /** The clock of a host that is ahead of the database. */
  const clockAhead: Clock = {
    nowMs: () => systemClock.nowMs() + AHEAD_MS,
    nowNs: () => systemClock.nowNs() + BigInt(AHEAD_MS) * 1_000_000n,
    monotonicMs: () => systemClock.monotonicMs(),
    sleep: (ms, signal) => systemClock.sleep(ms, signal),
  }

  /** Inserts the row of a process on another host that renewed it some time ago, by the clock of the database. */
  async function hold(renewedBeforeMs: number): Promise<void> {
    const renewed_at_ms = Math.round((await db.nowMs!()) - renewedBeforeMs)
    const values = { repository: REPOSITORY, token: 'theirs', owner: ELSEWHERE, renewals: 4, renewed_at_ms }
    await db.write((tx) => tx.insertInto('repository_locks').values(values).execute())
  }

  /** Takes the lock as a process on a host of its own, and returns how long that took. */
  async function take({ clock = systemClock, waitMs = 30_000 } = {}): Promise<number> {
    const startMs = performance.now()
    const context = { db: open(), clock, randomBytes, settings: { repositoriesDir: '' } }
    return withRepositoryLock(context, REPOSITORY, async () => performance.now() - startMs, { waitMs })
  }

  test('a lock of a host that died earlier is taken at once, although no process has waited for it', async () => {
    await hold(LEASE_MS + 1_000)
    expect(await take()).toBeLessThan(LEASE_MS / 3)
  })

  test('a waiting process waits for the rest of the lease only, also with a clock that is three hours ahead', async () => {
    await hold(LEASE_MS - 1_500)
    const tookMs = await take({ clock: clockAhead })
    expect(tookMs).toBeGreaterThan(1_000)
    expect(tookMs).toBeLessThan(LEASE_MS * 0.6)
  })

  test('a process with a clock that is three hours ahead does not take a lock that is held', async () => {
    await hold(0)
    await expect(take({ clock: clockAhead, waitMs: 1_000 })).rejects.toMatchObject({ failure: { code: 'conflict' } })
  })

  test('the holder renews with the time of the database, whatever its own clock says', async () => {
    const context = { db: open(), clock: clockAhead, randomBytes, settings: { repositoriesDir: '' } }
    await withRepositoryLock(context, REPOSITORY, async () => {
      await systemClock.sleep(3_500)
      const { renewals, renewed_at_ms } = await db.read
        .selectFrom('repository_locks')
        .select(['renewals', 'renewed_at_ms'])
        .executeTakeFirstOrThrow()
      expect(renewals).toBeGreaterThan(0)
      expect(Math.abs(renewed_at_ms - (await db.nowMs!()))).toBeLessThan(3_000)
      await expect(take({ waitMs: 500 })).rejects.toMatchObject({ failure: { code: 'conflict' } })
    })
    expect(await db.read.selectFrom('repository_locks').selectAll().execute()).toEqual([])
  })
})
