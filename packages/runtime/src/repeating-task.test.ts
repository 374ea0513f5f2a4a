import { Gate, ManualClock } from '@penstock/testkit'
import { expect, test } from 'vitest'
import { jsonLog } from './log.ts'
import { RepeatingTask } from './repeating-task.ts'

function setUp() {
  const clock = new ManualClock()
  const lines: string[] = []
  const log = jsonLog({ write: (line) => lines.push(line) }, () => clock.nowMs())
  return { clock, lines, schedule: { everyMs: 1_000, clock, log } }
}

test('runs after each interval, and not immediately', async () => {
  const { clock, schedule } = setUp()
  const ranAtMs: number[] = []
  const repeating = new RepeatingTask('work.failed', schedule, async () => void ranAtMs.push(clock.nowMs()))
  await clock.advance(3_500)
  expect(ranAtMs).toEqual([1_000, 2_000, 3_000])
  await repeating.end()
  await clock.advance(10_000)
  expect(ranAtMs).toHaveLength(3)
})

test('the delay before the first run can differ', async () => {
  const { clock, schedule } = setUp()
  const ranAtMs: number[] = []
  const work = async () => void ranAtMs.push(clock.nowMs())
  const repeating = new RepeatingTask('work.failed', { ...schedule, firstAfterMs: 0 }, work)
  await clock.untilSleeping()
  await clock.advance(1_000)
  expect(ranAtMs).toEqual([0, 1_000])
  await repeating.end()
})

test('does not overlap: a slow run delays the next one', async () => {
  const { clock, schedule } = setUp()
  const slow = new Gate()
  let begun = 0
  const repeating = new RepeatingTask('work.failed', schedule, async () => {
    begun += 1
    await slow.opened
  })
  await clock.advance(5_000)
  expect(begun).toBe(1)
  slow.open()
  await clock.untilSleeping()
  await clock.advance(1_000)
  expect(begun).toBe(2)
  await repeating.end()
})

test('logs a failure with its event, runs again, and logs that it succeeds', async () => {
  const { clock, lines, schedule } = setUp()
  let tries = 0
  const repeating = new RepeatingTask('usage.unwritten', schedule, async () => {
    tries += 1
    if (tries === 1) throw new Error('disk full')
  })
  await clock.advance(2_000)
  expect(tries).toBe(2)
  expect(lines.map((line) => JSON.parse(line).event)).toEqual(['usage.unwritten', 'usage.recovered'])
  await repeating.end()
})

test('end waits for the current run', async () => {
  const { clock, schedule } = setUp()
  const slow = new Gate()
  const seen: string[] = []
  const repeating = new RepeatingTask('work.failed', schedule, async () => {
    await slow.opened
    seen.push('worked')
  })
  await clock.advance(1_000)
  const ended = repeating.end().then(() => seen.push('ended'))
  slow.open()
  await ended
  expect(seen).toEqual(['worked', 'ended'])
})
