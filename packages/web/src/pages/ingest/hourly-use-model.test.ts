import { expect, test } from 'vitest'
import { hourlyUse, requestsByHour } from './hourly-use-model.ts'
import { ingestToken } from './management.harness.ts'

const usage = (since: string, requests: readonly number[]) => ({
  usage_by_hour: { since, requests, bytes: requests, rejected: requests.map(() => 1) },
})
const noon = Date.parse('2026-03-10T12:00:00Z')

test('a token without use has no row', () => {
  expect(hourlyUse([ingestToken()])).toEqual({ hours: [], rows: [] })
})

test('rows of pages that were loaded in different hours stand under the same hours', () => {
  const tokens = [
    ingestToken({ id: 'a', name: 'older', ...usage('2026-03-10T11:00:00Z', [5, 6, 7]) }),
    ingestToken({ id: 'b', name: 'newer', ...usage('2026-03-10T12:00:00Z', [1, 2, 3]) }),
  ]
  const { hours, rows } = hourlyUse(tokens)
  expect(hours).toEqual([noon, noon + 3_600_000, noon + 7_200_000])
  expect(rows.map(({ name, requests }) => [name, ...requests])).toEqual([
    ['older', 6, 7, 0],
    ['newer', 1, 2, 3],
  ])
})

test('nothing is drawn if all requests were refused', () => {
  expect(requestsByHour(usage('2026-03-10T12:00:00Z', [0, 0]).usage_by_hour)).toEqual([])
  expect(requestsByHour(usage('2026-03-10T12:00:00Z', [0, 4]).usage_by_hour)).toEqual([0, 4])
})
