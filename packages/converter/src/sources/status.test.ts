import { expect, test } from 'vitest'
import { canonicalStatus, finishedStatuses, isFinished, knownStatuses } from './status.ts'

test.each([
  ['success', 'success'],
  ['failure', 'failed'],
  ['cancelled', 'canceled'],
  ['Cancelled', 'canceled'],
  ['SUCCESS', 'success'],
  [' Running\n', 'running'],
  ['canceling', 'canceling'],
  ['Shelved', 'Shelved'],
])('edge 3: %j is %j', (given, expected) => expect(canonicalStatus(given)).toBe(expected))

test('four known statuses are final', () => {
  expect(knownStatuses.filter(isFinished)).toEqual(finishedStatuses)
  expect(isFinished('Shelved')).toBe(false)
})
