import { jsonLog } from '@penstock/runtime'
import { ManualClock } from '@penstock/testkit'
import { beforeEach, expect, test } from 'vitest'
import { RequestFailureLog } from './request-failure-log.ts'

let clock: ManualClock
let text: string
let failures: RequestFailureLog

beforeEach(() => {
  clock = new ManualClock()
  text = ''
  const log = jsonLog(
    {
      write: (line: string) => {
        text += line
        return true
      },
    },
    () => clock.nowMs(),
  )
  failures = new RequestFailureLog(log, () => clock.monotonicMs())
})

const lines = () =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
const unavailable = (code = 'ECONNREFUSED') => Object.assign(new Error('connect failed'), { code })
const fail = (error: unknown, status = 503) =>
  failures.failed({ method: 'GET', route: '/projects', status, requestId: 'r', error })

test('an outage has one line a minute with a count, and one line when it is over', async () => {
  // 50 requests a second for two minutes.
  for (let index = 0; index < 6_000; index += 1) {
    fail(unavailable())
    await clock.advance(20)
  }
  expect(lines()).toMatchObject([
    { event: 'http.request_failed', status: 503, code: 'ECONNREFUSED', level: 'warn' },
    { event: 'http.request_failed', suppressed: 2_999 },
  ])
  expect(text.length).toBeLessThan(1_000)
  failures.succeeded()
  expect(lines()).toHaveLength(2)
  await clock.advance(10_000)
  failures.succeeded()
  failures.succeeded()
  expect(lines().slice(2)).toMatchObject([
    { event: 'http.recovered', kind: 'ECONNREFUSED', refused: 6_000, suppressed: 2_999 },
  ])
  fail(unavailable())
  expect(lines().slice(3)).toMatchObject([{ event: 'http.request_failed' }])
})

test('each kind of refusal has lines of its own, up to a limit', () => {
  for (let kind = 0; kind < 100; kind += 1) for (let turn = 0; turn < 3; turn += 1) fail(unavailable(`E${kind}`))
  expect(lines()).toHaveLength(21)
})

test('every other failure has a line with its stack', () => {
  for (let turn = 0; turn < 3; turn += 1) fail(new Error('bug'), 500)
  expect(lines()).toHaveLength(3)
  expect(lines()[0]).toMatchObject({ level: 'error', status: 500, error: 'bug', stack: expect.stringContaining('bug') })
})
