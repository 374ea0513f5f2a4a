import { ManualClock } from '@penstock/testkit'
import { expect, test } from 'vitest'
import { DatabaseClock } from './database-clock.ts'

const HOUR_MS = 3_600_000

/** Returns a clock of a host that is an hour ahead of the database, to which each request takes 40 ms. */
function hostAhead() {
  const host = new ManualClock(100 * HOUR_MS)
  let aheadMs = HOUR_MS
  const clock = new DatabaseClock(host, async () => {
    await host.advance(20)
    const nowMs = host.nowMs() - aheadMs
    await host.advance(20)
    return nowMs
  })
  return { host, clock, setAhead: (ms: number) => (aheadMs = ms) }
}

test('shows the time of the database from the first adjustment on', async () => {
  const { host, clock } = hostAhead()
  expect(clock.nowMs()).toBe(100 * HOUR_MS)
  expect(await clock.adjust()).toEqual({ differenceMs: -HOUR_MS, isNews: true })
  expect(clock.nowMs()).toBe(99 * HOUR_MS + 40)
  await host.advance(5)
  expect(clock.nowMs()).toBe(99 * HOUR_MS + 45)
})

test('a difference is news once, and again after it has changed by a second', async () => {
  const { clock, setAhead } = hostAhead()
  const news = async () => (await clock.adjust()).isNews
  expect([await news(), await news()]).toEqual([true, false])
  setAhead(HOUR_MS + 999)
  expect(await news()).toBe(false)
  setAhead(HOUR_MS + 1_000)
  expect(await news()).toBe(true)
})

test('nanoseconds never decrease, also when the clock is put back', async () => {
  const { host, clock } = hostAhead()
  const before = clock.nowNs()
  await clock.adjust()
  expect(clock.nowNs()).toBe(before)
  await host.advance(2 * HOUR_MS)
  expect(clock.nowNs()).toBe(BigInt(101 * HOUR_MS + 40) * 1_000_000n)
})
