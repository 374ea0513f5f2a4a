import { ManualClock } from '@penstock/testkit'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Outcome } from './outcome.ts'
import { type RetryContext, sendWithRetry } from './send-with-retry.ts'

const delivered: Outcome = { kind: 'delivered', rejectedItems: 0, message: '' }
const dead: Outcome = { kind: 'dead', reason: 'HTTP 400', authentication: false }
const retry = (retryAfterMs = 0): Outcome => ({ kind: 'retry', retryAfterMs, reason: 'HTTP 503' })

function setUp(change: Partial<RetryContext> = {}) {
  const clock = new ManualClock(5_000)
  const context: RetryContext = {
    policy: { baseMs: 1_000, capMs: 8_000, giveUpAfterMs: 60_000 },
    attemptTimeoutMs: 10_000,
    clock,
    random: () => 0.5,
    ...change,
  }
  return { clock, context }
}

/** Returns the outcomes in order, then the last one repeatedly, and records the time and timeout of each call. */
function scripted(clock: ManualClock, ...outcomes: Outcome[]) {
  const calls: { atMs: number; timeoutMs: number }[] = []
  const attempt = async (timeoutMs: number): Promise<Outcome> => {
    calls.push({ atMs: clock.nowMs(), timeoutMs })
    return outcomes[Math.min(calls.length, outcomes.length) - 1] ?? dead
  }
  return { calls, attempt }
}

test.each([delivered, dead])('makes no second attempt after $kind', async (outcome) => {
  const { clock, context } = setUp()
  const { calls, attempt } = scripted(clock, outcome)
  expect(await sendWithRetry(attempt, context)).toEqual({ outcome, attempts: 1 })
  expect(calls).toEqual([{ atMs: 5_000, timeoutMs: 10_000 }])
})

test('waits longer after each attempt, and at least as long as Retry-After', async () => {
  const notices: unknown[] = []
  const { clock, context } = setUp({ onRetry: (notice) => notices.push(notice) })
  const { calls, attempt } = scripted(clock, retry(), retry(), retry(7_000), delivered)
  const sending = sendWithRetry(attempt, context)
  await clock.untilSleeping()
  await clock.advance(20_000)
  expect(await sending).toEqual({ outcome: delivered, attempts: 4 })
  expect(calls.map((call) => call.atMs)).toEqual([5_000, 5_500, 6_500, 13_500])
  expect(notices).toEqual([
    { attemptsMade: 1, waitMs: 500, reason: 'HTTP 503' },
    { attemptsMade: 2, waitMs: 1_000, reason: 'HTTP 503' },
    { attemptsMade: 3, waitMs: 7_000, reason: 'HTTP 503' },
  ])
})

test('limits the last attempts to the remaining time, then gives up with the last reason', async () => {
  const { clock, context } = setUp({ policy: { baseMs: 8_000, capMs: 8_000, giveUpAfterMs: 10_000 } })
  const { calls, attempt } = scripted(clock, retry())
  const sending = sendWithRetry(attempt, context)
  await clock.untilSleeping()
  await clock.advance(60_000)
  expect(await sending).toEqual({
    outcome: { kind: 'expired', reason: 'gave up after 3 attempts: HTTP 503' },
    attempts: 3,
  })
  expect(calls).toEqual([
    { atMs: 5_000, timeoutMs: 10_000 },
    { atMs: 9_000, timeoutMs: 6_000 },
    { atMs: 13_000, timeoutMs: 2_000 },
  ])
})

test('gives up immediately if Retry-After is beyond the deadline', async () => {
  const { clock, context } = setUp()
  const { attempt } = scripted(clock, retry(60_000))
  const { outcome } = await sendWithRetry(attempt, context)
  expect(outcome).toMatchObject({ kind: 'expired', reason: 'gave up after 1 attempt: HTTP 503' })
})

test('ends the wait on an abort', async () => {
  const stop = new AbortController()
  const { clock, context } = setUp({ signal: stop.signal })
  const { calls, attempt } = scripted(clock, retry())
  const sending = sendWithRetry(attempt, context)
  await clock.untilSleeping()
  stop.abort()
  expect(await sending).toEqual({
    outcome: { kind: 'aborted', reason: 'stopped after 1 attempt: HTTP 503' },
    attempts: 1,
  })
  expect(calls.length).toBe(1)
})

test('makes no attempt after an abort', async () => {
  const { clock, context } = setUp({ signal: AbortSignal.abort() })
  const { calls, attempt } = scripted(clock, delivered)
  expect(await sendWithRetry(attempt, context)).toEqual({
    outcome: { kind: 'aborted', reason: 'stopped before the first attempt' },
    attempts: 0,
  })
  expect(calls).toEqual([])
})

test('returns a delivered attempt even after an abort', async () => {
  const stop = new AbortController()
  const { context } = setUp({ signal: stop.signal })
  const attempt = async () => {
    stop.abort()
    return delivered
  }
  expect((await sendWithRetry(attempt, context)).outcome).toBe(delivered)
})

test('throws a bug of the attempt', async () => {
  const { context } = setUp()
  const bug = new TypeError('undefined is not a function')
  await expect(sendWithRetry(() => Promise.reject(bug), context)).rejects.toBe(bug)
})

test('never starts or continues an attempt past the deadline', async () => {
  const steps = fc.array(fc.record({ retryAfterMs: fc.nat({ max: 20_000 }), tookMs: fc.nat({ max: 15_000 }) }), {
    minLength: 1,
  })
  await fc.assert(
    fc.asyncProperty(steps, fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), async (script, roll) => {
      const { clock, context } = setUp({ random: () => roll })
      let made = 0
      const sending = sendWithRetry(async (timeoutMs) => {
        const deadlineMs = 65_000
        expect(timeoutMs).toBeGreaterThan(0)
        expect(clock.nowMs() + timeoutMs).toBeLessThanOrEqual(deadlineMs)
        const step = script[made++ % script.length]!
        await clock.sleep(Math.min(step.tookMs, timeoutMs))
        return retry(step.retryAfterMs)
      }, context)
      await clock.advance(200_000)
      expect(await sending).toMatchObject({ outcome: { kind: 'expired' }, attempts: made })
    }),
    { numRuns: 30 },
  )
})

test.each([3_600_000, -3_600_000])(
  'a change of the system time by %i ms changes neither pauses nor the deadline',
  async (ms) => {
    const { clock, context } = setUp({ policy: { baseMs: 8_000, capMs: 8_000, giveUpAfterMs: 10_000 } })
    const calls: number[] = []
    const beganMs = clock.monotonicMs()
    const attempt = async (): Promise<Outcome> => {
      calls.push(clock.monotonicMs() - beganMs)
      return retry()
    }
    const sending = sendWithRetry(attempt, context)
    for (let pauses = 0; pauses < 2; pauses += 1) {
      await clock.untilSleeping()
      clock.stepSystemTime(ms)
      await clock.advance(4_000)
    }
    expect(await sending).toMatchObject({ outcome: { kind: 'expired' } })
    expect(calls).toEqual([0, 4_000, 8_000])
  },
)
