import { expect, test } from 'vitest'
import { monotonicNanoseconds, systemClock } from './clock.ts'

function combinedClock() {
  const now = { wallMs: 1_000, steadyNs: 70n }
  const nowNs = monotonicNanoseconds(
    () => now.wallMs,
    () => now.steadyNs,
  )
  return { now, nowNs }
}

test('continues with the monotonic clock between two ticks of the system clock', () => {
  const { now, nowNs } = combinedClock()
  expect(nowNs()).toBe(1_000_000_000n)
  now.steadyNs += 250n
  expect(nowNs()).toBe(1_000_000_250n)
})

test('follows the system clock forward when the two have drifted apart', () => {
  const { now, nowNs } = combinedClock()
  now.wallMs += 3_600_000
  expect(nowNs()).toBe(3_601_000_000_000n)
})

test('stays constant while the system clock is behind, then continues', () => {
  const { now, nowNs } = combinedClock()
  nowNs()
  now.wallMs -= 100
  now.steadyNs += 1_000_000n
  expect(nowNs()).toBe(1_000_000_000n)
  now.wallMs += 200
  now.steadyNs += 200_000_000n
  expect(nowNs()).toBe(1_100_000_000n)
})

test('systemClock never goes back, and nowNs agrees with nowMs', () => {
  const readings = Array.from({ length: 1_000 }, () => systemClock.nowNs())
  expect(readings).toEqual(readings.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0)))
  expect(new Set(readings.map((ns) => ns % 1_000_000n)).size).toBeGreaterThan(1)
  expect(Math.abs(Number(systemClock.nowNs() / 1_000_000n) - systemClock.nowMs())).toBeLessThanOrEqual(6)
})

test('sleep rejects with the reason of an abort before or during it', async () => {
  const reason = new Error('stop')
  await expect(systemClock.sleep(60_000, AbortSignal.abort(reason))).rejects.toBe(reason)
  const during = new AbortController()
  const sleeping = systemClock.sleep(2 ** 40, during.signal)
  during.abort(reason)
  await expect(sleeping).rejects.toBe(reason)
})

test('sleep returns for zero and negative durations', async () => {
  await systemClock.sleep(0)
  await systemClock.sleep(-5)
})
