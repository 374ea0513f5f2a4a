import { expect, test } from 'vitest'
import { matrixGroup } from './jobs.ts'

test.each([
  ['test (ubuntu-24.04, 22)', 'test'],
  ['build / test (a) (b)', 'build / test'],
  ['test ()', undefined],
  ['test(a)', undefined],
  [' (a)', undefined],
  ['test (a) again', undefined],
  [`${'x'.repeat(1_025)} (a)`, undefined],
])('the group of %j', (name, group) => expect(matrixGroup(name)?.name).toBe(group))

test.each([
  ['test (1/3)', 1],
  ['test (linux, 2/3)', 2],
  ['test (4/3)', undefined],
  ['test (0/3)', undefined],
  ['test (1/3, 2/3)', undefined],
  ['test (a/b)', undefined],
])('the index of %j', (name, index) => expect(matrixGroup(name)).toEqual({ name: 'test', index }))

test('names that nearly are those of a matrix are read in time that grows with their length', () => {
  const name = `a${' ('.repeat(1_000)}\n)`
  for (let count = 0; count < 5_000; count++) expect(matrixGroup(name)?.name).toBe('a')
})
