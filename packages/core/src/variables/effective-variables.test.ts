import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { effectiveVariables, scopeMatches } from './effective-variables.ts'

interface Given {
  readonly key: string
  readonly isProtected: boolean
  readonly environmentScope: string
  readonly from: string
}

const given = (from: string, environmentScope = '*', isProtected = false): Given => ({
  key: 'K',
  from,
  environmentScope,
  isProtected,
})
const chosen = (levels: Given[][], environments: string[] = [], isProtectedRef = false) =>
  effectiveVariables(levels, { environments, isProtectedRef }).map(({ from }) => from)

describe('which of several counts', () => {
  test.each([
    {
      name: 'the project before its groups',
      levels: [[given('project')], [given('near')], [given('root')]],
      expected: ['project'],
    },
    {
      name: 'the nearest group before its parents',
      levels: [[], [given('near')], [given('root')]],
      expected: ['near'],
    },
    {
      name: 'the level before the scope',
      levels: [[given('project')], [given('near', 'production')]],
      expected: ['project'],
    },
    {
      name: 'a very name before a pattern before everything',
      levels: [[given('all'), given('pattern', 'prod*'), given('name', 'production')]],
      expected: ['name'],
    },
    {
      name: 'the longer pattern',
      levels: [[given('long', 'prod*'), given('short', 'p*')]],
      expected: ['long'],
    },
    { name: 'no environment of that name', levels: [[given('other', 'staging')], [given('near')]], expected: ['near'] },
    { name: 'protected, on another ref', levels: [[given('secret', '*', true)], [given('near')]], expected: ['near'] },
    { name: 'nothing', levels: [[given('other', 'staging')]], expected: [] },
  ])('$name', ({ levels, expected }) => {
    expect(chosen(levels, ['production'])).toEqual(expected)
  })

  test('without an environment only * counts; protected ones do on protected refs', () => {
    expect(chosen([[given('scoped', 'pro*'), given('all')]])).toEqual(['all'])
    expect(chosen([[given('secret', '*', true)]], [], true)).toEqual(['secret'])
  })
})

describe('laws', () => {
  const scopes = fc.constantFrom('*', 'production', 'staging', 'prod*', 'p*', 'review/*', '*/x', '**')
  const variables = fc.record({
    key: fc.constantFrom('A', 'B', 'C'),
    isProtected: fc.boolean(),
    environmentScope: scopes,
    from: fc.uuid(),
  })
  const levels = fc.array(
    fc.uniqueArray(variables, { selector: ({ key, environmentScope }) => `${key} ${environmentScope}` }),
    {
      maxLength: 4,
    },
  )
  const circumstances = fc.record({
    environments: fc.uniqueArray(fc.constantFrom('production', 'staging', 'review/x', 'qa'), { maxLength: 3 }),
    isProtectedRef: fc.boolean(),
  })

  test('one for each key that any fits, from the nearest level that has one, and the order of anything is no matter', () => {
    fc.assert(
      fc.property(levels, circumstances, (all, { environments, isProtectedRef }) => {
        const fits = ({ isProtected, environmentScope }: Given) =>
          (isProtectedRef || !isProtected) &&
          (environmentScope === '*' || environments.some((name) => asPattern(environmentScope).test(name)))
        const found = effectiveVariables(all, { environments, isProtectedRef })
        const keys = [
          ...new Set(
            all
              .flat()
              .filter(fits)
              .map(({ key }) => key),
          ),
        ].toSorted()
        expect(found.map(({ key }) => key)).toEqual(keys)
        for (const variable of found) {
          expect(fits(variable)).toBe(true)
          const nearest = all.find((level) => level.some((other) => other.key === variable.key && fits(other)))
          expect(nearest).toContain(variable)
        }
        const turned = { environments: environments.toReversed(), isProtectedRef }
        expect(
          effectiveVariables(
            all.map((level) => level.toReversed()),
            turned,
          ),
        ).toEqual(found)
      }),
    )
  })

  test('a scope matches as a pattern of which only * means anything', () => {
    const texts = fc.string({ unit: fc.constantFrom('a', 'b', '.', '/', '*'), maxLength: 8 })
    fc.assert(
      fc.property(texts, texts, (scope, environment) => {
        expect(scopeMatches(scope, environment)).toBe(asPattern(scope).test(environment))
      }),
    )
  })

  test('takes no time to speak of', () => {
    expect(scopeMatches(`${'*a'.repeat(120)}b`, 'a'.repeat(255))).toBe(false)
  })

  const asPattern = (scope: string) =>
    new RegExp(`^${scope.replace(/[.+?^${}()|[\]\\/]/g, '\\$&').replaceAll('*', '[^]*')}$`)
})
