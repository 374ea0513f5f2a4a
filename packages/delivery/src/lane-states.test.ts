import { expect, test } from 'vitest'
import { LaneStates } from './lane-states.ts'

test('of lanes with nothing open the 256 that were used last are remembered; the others have to be tried anew', () => {
  const states = new LaneStates()
  const names = Array.from({ length: 300 }, (_, index) => `lane ${index}`)
  for (const name of names) states.of(name)
  states.of('lane 0')
  states.of('lane 1').underWay = 1
  states.forgetIdle(new Set(['lane 2']))
  const known = names.filter((name) => states.find(name) !== undefined)
  // Beside the 256: one that is under way, and one that is open.
  expect(known).toEqual(['lane 0', 'lane 1', 'lane 2', ...names.slice(-255)])
})
