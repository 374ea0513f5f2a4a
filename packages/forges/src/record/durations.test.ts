import { expect, test } from 'vitest'
import { absentJobFields } from './absent-fields.ts'
import { busySeconds, secondsBetween } from './durations.ts'
import type { JobRecord } from './pipeline-record.ts'

const second = 1_000_000_000n
const job = (id: bigint, start: bigint | undefined, end: bigint | undefined, status = 'success'): JobRecord => ({
  ...absentJobFields,
  id,
  bridge: false,
  status,
  startedAtNs: start === undefined ? undefined : start * second,
  finishedAtNs: end === undefined ? undefined : end * second,
  allowFailure: false,
  effective: true,
})

test('seconds between two times', () => {
  expect(secondsBetween(second, 3n * second)).toBe(2)
  expect(secondsBetween(second, second)).toBe(0)
  expect(secondsBetween(3n * second, second)).toBeUndefined()
  expect(secondsBetween(undefined, second)).toBeUndefined()
})

test.each<[string, JobRecord[], number | undefined]>([
  ['overlapping jobs', [job(1n, 10n, 20n), job(2n, 15n, 25n)], 15],
  ['a job within another, and a gap', [job(3n, 40n, 41n), job(1n, 10n, 20n), job(2n, 12n, 13n)], 11],
  ['a skipped job with times', [job(1n, 10n, 20n), job(2n, 30n, 90n, 'skipped')], 10],
  ['a job without an end, and one that ends before it starts', [job(1n, 10n, undefined), job(2n, 20n, 10n)], undefined],
  ['no jobs', [], undefined],
])('busy time of %s', (_, jobs, expected) => {
  expect(busySeconds(jobs)).toBe(expected)
  expect(busySeconds([...jobs].reverse())).toBe(expected)
})
