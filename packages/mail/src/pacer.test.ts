import { ManualClock } from '@penstock/testkit'
import { expect, test } from 'vitest'
import { Pacer } from './pacer.ts'

const STEP_MS = 10
const pause = { factor: 3, maxMs: 60 }

/** Runs pieces that take 10 ms each, and returns the time when each began. */
async function startsOf(
  pieces: readonly { readonly name: string; readonly isUrgent: boolean; readonly tookMs?: number }[],
) {
  const clock = new ManualClock(0)
  const pacer = new Pacer(clock, () => true)
  const starts: [string, number][] = []
  let left = pieces.length
  for (const { name, isUrgent, tookMs = STEP_MS } of pieces) {
    void pacer.run({ isUrgent, pause }, async () => {
      starts.push([name, clock.nowMs()])
      await clock.sleep(tookMs)
      left -= 1
    })
  }
  while (left > 0) await clock.advance(STEP_MS)
  return starts
}

test('after each piece, others have the event loop for three times as long', async () => {
  const pieces = ['a', 'b', 'c'].map((name) => ({ name, isUrgent: false }))
  expect(await startsOf(pieces)).toEqual([
    ['a', 0],
    ['b', 40],
    ['c', 80],
  ])
})

test('a pause ends after its limit', async () => {
  const pieces = [
    { name: 'long', isUrgent: false, tookMs: 1_000 },
    { name: 'next', isUrgent: false },
  ]
  expect(await startsOf(pieces)).toEqual([
    ['long', 0],
    ['next', 1_060],
  ])
})

test('there is no pause while none is needed', async () => {
  const clock = new ManualClock(0)
  const pacer = new Pacer(clock, () => false)
  const piece = () => pacer.run({ isUrgent: false, pause }, () => clock.sleep(STEP_MS))
  const both = Promise.all([piece(), piece()])
  await clock.advance(STEP_MS)
  await clock.advance(STEP_MS)
  await both
  expect(clock.nowMs()).toBe(2 * STEP_MS)
})

test('urgent pieces come first, and every 25th piece is another one', async () => {
  const others = ['x', 'y'].map((name) => ({ name, isUrgent: false }))
  const urgent = Array.from({ length: 26 }, (_, index) => ({ name: `u${index}`, isUrgent: true }))
  const order = (await startsOf([{ name: 'first', isUrgent: false }, ...others, ...urgent])).map(([name]) => name)
  const urgentOnes = Array.from({ length: 24 }, (_, index) => `u${index}`)
  expect(order).toEqual(['first', ...urgentOnes, 'x', 'u24', 'u25', 'y'])
})

test('a piece that fails does not stop the next one', async () => {
  const pacer = new Pacer(new ManualClock(0), () => true)
  const failed = pacer.run({ isUrgent: false, pause }, () => Promise.reject(new Error('no')))
  const next = pacer.run({ isUrgent: false, pause }, async () => 'next')
  await expect(failed).rejects.toThrow('no')
  expect(await next).toBe('next')
})

test('when it has to hurry, the remaining pieces run without pauses', async () => {
  const clock = new ManualClock(0)
  const pacer = new Pacer(clock, () => true)
  const starts: number[] = []
  let left = 3
  for (let piece = 0; piece < 3; piece += 1) {
    void pacer.run({ isUrgent: false, pause }, async () => {
      starts.push(clock.nowMs())
      await clock.sleep(STEP_MS)
      left -= 1
    })
  }
  await clock.advance(STEP_MS)
  await clock.untilSleeping()
  pacer.hurry()
  while (left > 0) {
    await clock.untilSleeping()
    await clock.advance(STEP_MS)
  }
  expect(starts).toEqual([0, 10, 20])
})
