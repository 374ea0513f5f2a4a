import { expect, test } from 'vitest'
import { absentJobFields } from './absent-fields.ts'
import { arrangeJobs, sortJobs } from './arrange-jobs.ts'

const job = (id: bigint, createdAtNs: bigint) => ({
  ...absentJobFields,
  id,
  bridge: false,
  name: 'unit',
  status: 'success',
  createdAtNs,
  allowFailure: false,
  effective: true,
})

test('sortJobs keeps jobs of one name apart, arrangeJobs takes them for attempts', () => {
  const listed = [job(2n, 20n), job(1n, 30n), job(2n, 20n)]
  expect(sortJobs(listed).map(({ id, attempt, effective }) => [id, attempt, effective])).toEqual([
    [2n, undefined, true],
    [1n, undefined, true],
  ])
  expect(arrangeJobs(listed).map(({ id, attempt, effective }) => [id, attempt, effective])).toEqual([
    [2n, 2, true],
    [1n, 1, false],
  ])
})
