import { expect, test } from 'vitest'
import { projectIdOf, projectScope } from './project-scope.ts'

test('returns the id for the scope of a project, and undefined for other scopes', () => {
  expect(projectScope(5)).toBe('project:5')
  expect([projectIdOf('project:5'), projectIdOf('source:5'), projectIdOf('project:')]).toEqual([
    5,
    undefined,
    undefined,
  ])
})
