import fc from 'fast-check'
import { expect, test } from 'vitest'
import { dueNotices, ENDED, type ExpiringToken, warningStepsMs } from './expiry-warnings.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const NOW_MS = Date.UTC(2026, 10, 21)

const token = (over: Partial<ExpiringToken> = {}): ExpiringToken => ({
  id: 'a',
  name: 'ci',
  createdAtMs: 0,
  expiresAtMs: NOW_MS + 10 * DAY_MS,
  disabled: false,
  warnedMs: undefined,
  ...over,
})
const stepsOf = (over: Partial<ExpiringToken>) =>
  dueNotices([token(over)], undefined, NOW_MS).map(({ stepMs }) => stepMs)

test.each([
  { leftMs: 14 * DAY_MS + 1, due: [] },
  { leftMs: 14 * DAY_MS, due: [14 * DAY_MS] },
  { leftMs: 7 * DAY_MS, due: [7 * DAY_MS] },
  { leftMs: 2 * DAY_MS, due: [3 * DAY_MS] },
  { leftMs: 1 * DAY_MS, due: [DAY_MS] },
  { leftMs: HOUR_MS + 1, due: [DAY_MS] },
  { leftMs: HOUR_MS, due: [HOUR_MS] },
  { leftMs: 1, due: [HOUR_MS] },
  { leftMs: 0, due: [ENDED] },
  { leftMs: -99 * DAY_MS, due: [ENDED] },
])('O-9: a token that expires in $leftMs ms and has had no notice gets $due', ({ leftMs, due }) => {
  expect(stepsOf({ expiresAtMs: NOW_MS + leftMs })).toEqual(due)
})

test('O-9: a notice is given once, and the next one when its time has come', () => {
  expect(stepsOf({ expiresAtMs: NOW_MS + 5 * DAY_MS, warnedMs: 7 * DAY_MS })).toEqual([])
  expect(stepsOf({ expiresAtMs: NOW_MS + 3 * DAY_MS, warnedMs: 7 * DAY_MS })).toEqual([3 * DAY_MS])
  expect(stepsOf({ expiresAtMs: NOW_MS, warnedMs: HOUR_MS })).toEqual([ENDED])
  expect(stepsOf({ expiresAtMs: NOW_MS, warnedMs: ENDED })).toEqual([])
})

test('T-16: a rotated token gets no notice before its expiry, only the one that it has expired', () => {
  expect(stepsOf({ expiresAtMs: NOW_MS + HOUR_MS, warnedMs: 0 })).toEqual([])
  expect(stepsOf({ expiresAtMs: NOW_MS, warnedMs: 0 })).toEqual([ENDED])
})

test('a step longer than the whole lifetime of a token gives no notice', () => {
  const born = { createdAtMs: NOW_MS - 1, expiresAtMs: NOW_MS + 3 * DAY_MS - 1 }
  expect(stepsOf(born)).toEqual([])
  expect(dueNotices([token(born)], undefined, NOW_MS + 2 * DAY_MS).map(({ stepMs }) => stepMs)).toEqual([DAY_MS])
})

test('a disabled token gets only the notice that it has expired', () => {
  expect(stepsOf({ expiresAtMs: NOW_MS + HOUR_MS, disabled: true })).toEqual([])
  expect(stepsOf({ expiresAtMs: NOW_MS, disabled: true })).toEqual([ENDED])
})

test('A-5: marks the notice of the valid token that expires last', () => {
  const tokens = [
    token({ id: 'first', expiresAtMs: NOW_MS + DAY_MS }),
    token({ id: 'last', expiresAtMs: NOW_MS + 2 * DAY_MS }),
  ]
  const last = (lastEndMs: number | undefined) =>
    dueNotices(tokens, lastEndMs, NOW_MS).flatMap((notice) => (notice.isLast ? [notice.token.id] : []))
  expect(last(NOW_MS + 2 * DAY_MS)).toEqual(['last'])
  expect(last(undefined)).toEqual([])
  expect(dueNotices([token({ expiresAtMs: NOW_MS })], 0, NOW_MS)).toMatchObject([{ stepMs: ENDED, isLast: true }])
})

test('O-9: at any interval of checks, notices come in order and none is repeated', () => {
  const gaps = fc.array(fc.integer({ min: 1, max: 5 * DAY_MS }), { minLength: 1, maxLength: 60 })
  fc.assert(
    fc.property(gaps, (looks) => {
      const expiresAtMs = NOW_MS + 20 * DAY_MS
      let nowMs = NOW_MS
      let warnedMs: number | undefined
      const given: number[] = []
      for (const gapMs of looks) {
        nowMs += gapMs
        for (const { stepMs } of dueNotices([token({ expiresAtMs, warnedMs })], undefined, nowMs)) {
          given.push(stepMs)
          warnedMs = stepMs
          expect(expiresAtMs - nowMs).toBeLessThanOrEqual(Math.max(stepMs, 0))
        }
      }
      expect(given).toEqual([...new Set(given)].toSorted((a, b) => b - a))
      const reached = warningStepsMs.filter((stepMs) => expiresAtMs - nowMs <= stepMs)
      if (reached.length > 0) expect(given.at(-1)).toBe(nowMs >= expiresAtMs ? ENDED : Math.min(...reached))
    }),
  )
})
