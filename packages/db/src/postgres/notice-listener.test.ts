import { expect, test } from 'vitest'
import { reconnectDelayMs } from './notice-listener.ts'

test.each([
  { failures: 1, shortest: 100, longest: 200 },
  { failures: 2, shortest: 200, longest: 400 },
  { failures: 5, shortest: 1_600, longest: 3_200 },
  { failures: 7, shortest: 5_000, longest: 10_000 },
  { failures: 5_000, shortest: 5_000, longest: 10_000 },
])('after $failures failures, the wait is between $shortest and $longest ms', ({ failures, shortest, longest }) => {
  expect([reconnectDelayMs(failures, () => 0), reconnectDelayMs(failures, () => 1)]).toEqual([shortest, longest])
})
