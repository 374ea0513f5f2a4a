import { expect, test } from 'vitest'
import { withMatchingName } from './name-search.ts'

test('names are compared in several turns of the event loop, however long each takes', async () => {
  const names = Array.from({ length: 40 }, (_, index) => ({ name: `branch-${index}` }))
  let nowMs = 0
  let turns = 0
  let isDone = false
  const count = () => {
    turns += 1
    if (!isDone) setImmediate(count)
  }
  setImmediate(count)
  const takesLong = (name: string) => {
    nowMs += 3
    return name.endsWith('7')
  }
  const found = await withMatchingName(names, takesLong, { monotonicMs: () => nowMs })
  isDone = true
  expect(found.map(({ name }) => name)).toEqual(['branch-7', 'branch-17', 'branch-27', 'branch-37'])
  // Four names take more than 10 ms.
  expect(turns).toBeGreaterThanOrEqual(9)
})
