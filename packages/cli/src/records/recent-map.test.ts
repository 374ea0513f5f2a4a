import { expect, test } from 'vitest'
import { RecentMap } from './recent-map.ts'

test('the least recently set entry is evicted', () => {
  const map = new RecentMap<string, number>({ entries: 2 })
  map.set('a', 1).set('b', 2).set('a', 3).set('c', 4)
  expect([...map]).toEqual([
    ['a', 3],
    ['c', 4],
  ])
})

test('never has more entries than its capacity', () => {
  const map = new RecentMap<number, number>({ entries: 10 })
  for (let key = 0; key < 1_000; key++) map.set(key, key)
  expect([...map.keys()]).toEqual([990, 991, 992, 993, 994, 995, 996, 997, 998, 999])
})

test('never has more than its weight, except for a single value', () => {
  const map = new RecentMap<string, number>({ entries: 10, weight: { max: 5, of: (value) => value } })
  map.set('a', 2).set('b', 2).set('c', 2)
  expect([...map.keys()]).toEqual(['b', 'c'])
  map.set('b', 3)
  expect([...map.keys()]).toEqual(['c', 'b'])
  map.delete('c')
  map.set('d', 2)
  expect([...map.keys()]).toEqual(['b', 'd'])
  map.set('e', 9)
  expect([...map.keys()]).toEqual(['e'])
})
