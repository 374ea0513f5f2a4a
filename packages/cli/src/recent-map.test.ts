import { expect, test } from 'vitest'
import { RecentMap } from './recent-map.ts'

test('what was set longest ago is forgotten', () => {
  const map = new RecentMap<string, number>(2)
  map.set('a', 1).set('b', 2).set('a', 3).set('c', 4)
  expect([...map]).toEqual([
    ['a', 3],
    ['c', 4],
  ])
})

test('never more than its capacity', () => {
  const map = new RecentMap<number, number>(10)
  for (let key = 0; key < 1_000; key++) map.set(key, key)
  expect([...map.keys()]).toEqual([990, 991, 992, 993, 994, 995, 996, 997, 998, 999])
})
