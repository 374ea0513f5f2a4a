import { ManualClock } from '@penstock/testkit'
import { expect, test } from 'vitest'
import { FailureLog } from './failure-log.ts'
import { jsonLog } from './log.ts'

test('an outage has one line with a stack and one when it is over, however long it lasts', () => {
  const clock = new ManualClock()
  const lines: Record<string, unknown>[] = []
  const log = jsonLog({ write: (line) => lines.push(JSON.parse(line)) }, () => clock.nowMs())
  const failures = new FailureLog({ log, clock, event: 'database.unavailable', message: 'away', fields: { work: 'x' } })
  failures.succeeded()
  for (let outage = 0; outage < 2; outage += 1) {
    for (let tries = 0; tries < 1_000; tries += 1) failures.failed(new Error('refused'))
    expect(failures.failures).toBe(1_000)
    failures.succeeded()
    failures.succeeded()
  }
  const away = { event: 'database.unavailable', work: 'x', err: { stack: expect.stringContaining('refused') } }
  const back = { event: 'database.recovered', work: 'x', failures: 1_000 }
  expect(lines).toMatchObject([away, back, away, back])
})

test('each kind of error has a line in an outage, so that a bug is not hidden by it', () => {
  const clock = new ManualClock()
  const lines: { readonly err: { readonly type: string } }[] = []
  const log = jsonLog({ write: (line) => lines.push(JSON.parse(line)) }, () => clock.nowMs())
  const failures = new FailureLog({ log, clock, event: 'sweep.failed', message: 'failed' })
  for (let tries = 0; tries < 3; tries += 1) {
    failures.failed(Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }))
    failures.failed(new TypeError('a bug'))
  }
  expect(lines).toHaveLength(2)
})
