import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ManualClock } from './manual-clock.ts'

test('wakes sleepers in order, each at its own time', async () => {
  const clock = new ManualClock(1_000)
  const woken: string[] = []
  const nap = async (name: string, ms: number) => {
    await clock.sleep(ms)
    woken.push(`${name} at ${clock.nowMs()}`)
  }
  const naps = [nap('long', 300), nap('short', 100), nap('short too', 100), nap('beyond', 1_000)]
  expect(clock.wakeTimesMs).toEqual([1_100, 1_100, 1_300, 2_000])

  await clock.advance(500)
  expect(woken).toEqual(['short at 1100', 'short too at 1100', 'long at 1300'])
  expect(clock.nowMs()).toBe(1_500)
  expect(clock.nowNs()).toBe(1_500_000_000n)

  await clock.advance(500)
  await Promise.all(naps)
})

test('a loop that sleeps again is woken several times by one move', async () => {
  const clock = new ManualClock()
  let turns = 0
  const loop = async () => {
    for (; turns < 10; turns++) await clock.sleep(30)
  }
  const looping = loop()
  await clock.advance(100)
  expect(turns).toBe(3)
  await clock.advance(1_000)
  await looping
})

test('an aborted sleep rejects with the reason and is no longer pending', async () => {
  const clock = new ManualClock()
  const stop = new AbortController()
  const sleeping = clock.sleep(50, stop.signal)
  stop.abort('enough')
  await expect(sleeping).rejects.toBe('enough')
  expect(clock.wakeTimesMs).toEqual([])
  await expect(clock.sleep(50, stop.signal)).rejects.toBe('enough')
})

test('resolves when the code under test waits for time', async () => {
  const clock = new ManualClock()
  const both = clock.untilSleeping(2)
  const naps = [clock.sleep(1), clock.sleep(2)]
  await both
  await clock.untilSleeping()
  await clock.advance(2)
  await Promise.all(naps)
})

test('a change of the system time affects neither sleeps nor the monotonic time', async () => {
  const clock = new ManualClock(1_000)
  const beganAtMs = clock.monotonicMs()
  const nap = clock.sleep(300)
  clock.stepSystemTime(-900)
  await clock.advance(300)
  await nap
  expect([clock.nowMs(), clock.monotonicMs() - beganAtMs]).toEqual([400, 300])
})

test('wakes every sleeper that is due, and no other', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer({ min: 1, max: 100 })),
      fc.array(fc.integer({ min: 0, max: 60 })),
      async (naps, moves) => {
        const clock = new ManualClock()
        const wokenAtMs = naps.map(() => -1)
        for (const [index, ms] of naps.entries()) {
          void clock.sleep(ms).then(() => {
            wokenAtMs[index] = clock.nowMs()
          })
        }
        for (const ms of moves) await clock.advance(ms)
        expect(wokenAtMs).toEqual(naps.map((ms) => (ms <= clock.nowMs() ? ms : -1)))
      },
    ),
  )
})
