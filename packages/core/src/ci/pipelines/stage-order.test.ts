import { expect, test } from 'vitest'
import { nextStageOrder } from './stage-order.ts'

const names = (stages: string) => stages.split(' ').filter((name) => name !== '-')

test.each([
  ['a b', 'a b', undefined],
  ['a b', 'a b c', undefined],
  ['-', 'a', undefined],
  ['a b', 'b a', ['a', 'b']],
  ['a b', 'x a b', ['a', 'b', 'x']],
  ['a b', 'b c', ['a', 'b', 'c']],
  ['a b', 'a', ['a', 'b']],
])('stages %j before and %j after are numbered as %j', (former, next, order) => {
  expect(nextStageOrder(undefined, names(former), names(next))).toEqual(order)
})

test('a stored order only grows, whatever jobs a record has', () => {
  expect(nextStageOrder(['b', 'a'], names('a'), names('a c'))).toEqual(['b', 'a', 'c'])
  expect(nextStageOrder(['b', 'a'], [], names('a b'))).toEqual(['b', 'a'])
})

test('the number of stages that a pipeline may ever have is limited', () => {
  const many = Array.from({ length: 99_999 }, (_, index) => `${index}`)
  expect(nextStageOrder(many, [], names('7'))).toHaveLength(99_999)
  expect(() => nextStageOrder(many, [], names('new'))).toThrow()
  const long = ['x'.repeat(999_999)]
  expect(nextStageOrder(long, [], names('a'))).toHaveLength(2)
  expect(() => nextStageOrder(long, [], names('ab'))).toThrow()
})
