import { expect, test } from 'vitest'
import { LaneStates } from './lane-states.ts'

test('keeps the 4,096 most recently used lanes, and those with a batch in progress', () => {
  const states = new LaneStates()
  const names = Array.from({ length: 5_000 }, (_, index) => `lane ${index}`)
  const known = () => names.filter((name) => states.find(name) !== undefined)
  for (const name of names.slice(0, 4_096)) states.getOrCreate(name)
  expect(known()).toHaveLength(4_096)
  states.getOrCreate('lane 0')
  states.getOrCreate('lane 2').inProgress = 1
  for (const name of names.slice(4_096)) states.getOrCreate(name)
  expect(known()).toEqual(['lane 0', 'lane 2', ...names.slice(-4_094)])
})
