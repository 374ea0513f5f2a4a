import { expect, test } from 'vitest'
import { nextStageOrder } from './stage-order.ts'

const jobs = (stages: string) => stages.split(' ').map((stage) => ({ stage: stage === '-' ? undefined : stage }))

test.each([
  ['a b', 'a b', undefined],
  ['a b', 'a a - b c', undefined],
  ['-', 'a', undefined],
  ['a b', 'b a', ['a', 'b']],
  ['a b', 'x a b', ['a', 'b', 'x']],
  ['a b', 'b c', ['a', 'b', 'c']],
  ['a b', 'a', ['a', 'b']],
])('stages %j before and %j after are numbered as %j', (former, next, order) => {
  expect(nextStageOrder(undefined, jobs(former), jobs(next))).toEqual(order)
})

test('an order that is kept grows, whatever jobs there are', () => {
  expect(nextStageOrder(['b', 'a'], jobs('a'), jobs('a c'))).toEqual(['b', 'a', 'c'])
  expect(nextStageOrder(['b', 'a'], [], jobs('a b'))).toEqual(['b', 'a'])
})

test('there is an end to the stages that a pipeline may have had', () => {
  const many = Array.from({ length: 99_999 }, (_, index) => `${index}`)
  expect(nextStageOrder(many, [], jobs('7'))).toHaveLength(99_999)
  expect(() => nextStageOrder(many, [], jobs('new'))).toThrow()
  const long = ['x'.repeat(999_999)]
  expect(nextStageOrder(long, [], jobs('a'))).toHaveLength(2)
  expect(() => nextStageOrder(long, [], jobs('ab'))).toThrow()
})
