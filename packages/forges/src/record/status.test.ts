import { expect, test } from 'vitest'
import { finishedStatuses, isFinished, knownStatuses } from './status.ts'

test('four known statuses are final', () => {
  expect(knownStatuses.filter(isFinished)).toEqual(finishedStatuses)
  expect(isFinished('Shelved')).toBe(false)
})
