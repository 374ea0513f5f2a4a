import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { effectiveVariables, scopeMatches } from './effective-variables.ts'

interface ScopedVariable {
  readonly key: string
  readonly isProtected: boolean
  readonly environmentScope: string
  readonly from: string
}

const variable = (from: string, environmentScope = '*', isProtected = false): ScopedVariable => ({
  key: 'K',
  from,
  environmentScope,
  isProtected,
})
const chosen = (levels: ScopedVariable[][], environments: string[] = [], isProtectedRef = false) =>
  effectiveVariables(levels, { environments, isProtectedRef }).map(({ from }) => from)

describe('precedence', () => {
  test.each([
    {
      name: 'the project precedes its groups',
      levels: [[variable('project')], [variable('near')], [variable('root')]],
      expected: ['project'],
    },
    {
      name: 'the nearest group precedes its parents',
      levels: [[], [variable('near')], [variable('root')]],
      expected: ['near'],
    },
    {
      name: 'the level matters before the scope',
      levels: [[variable('project')], [variable('near', 'production')]],
      expected: ['project'],
    },
    {
      name: 'an exact name precedes a pattern, and a pattern precedes *',
      levels: [[variable('all'), variable('pattern', 'prod*'), variable('name', 'production')]],
      expected: ['name'],
    },
    {
      name: 'the longer pattern precedes the shorter one',
      levels: [[variable('long', 'prod*'), variable('short', 'p*')]],
      expected: ['long'],
    },
    {
      name: 'a scope of another environment does not match',
      levels: [[variable('other', 'staging')], [variable('near')]],
      expected: ['near'],
    },
    {
      name: 'a protected variable does not count on an unprotected ref',
      levels: [[variable('secret', '*', true)], [variable('near')]],
      expected: ['near'],
    },
    { name: 'no variable matches', levels: [[variable('other', 'staging')]], expected: [] },
  ])('$name', ({ levels, expected }) => {
    expect(chosen(levels, ['production'])).toEqual(expected)
  })

  test('without an environment only * matches; protected variables count on protected refs', () => {
    expect(chosen([[variable('scoped', 'pro*'), variable('all')]])).toEqual(['all'])
    expect(chosen([[variable('secret', '*', true)]], [], true)).toEqual(['secret'])
  })
})

describe('properties', () => {
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

  test('returns one matching variable for each key, from the nearest level, independent of the order of the input', () => {
    fc.assert(
      fc.property(levels, circumstances, (all, { environments, isProtectedRef }) => {
        const fits = ({ isProtected, environmentScope }: ScopedVariable) =>
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
        const reversed = { environments: environments.toReversed(), isProtectedRef }
        expect(
          effectiveVariables(
            all.map((level) => level.toReversed()),
            reversed,
          ),
        ).toEqual(found)
      }),
    )
  })

  test('a scope matches like a pattern in which only * is special', () => {
    const texts = fc.string({ unit: fc.constantFrom('a', 'b', '.', '/', '*'), maxLength: 8 })
    fc.assert(
      fc.property(texts, texts, (scope, environment) => {
        expect(scopeMatches(scope, environment)).toBe(asPattern(scope).test(environment))
      }),
    )
  })

  test('matches quickly even with many wildcards', () => {
    expect(scopeMatches(`${'*a'.repeat(120)}b`, 'a'.repeat(255))).toBe(false)
  })

  const asPattern = (scope: string) =>
    new RegExp(`^${scope.replace(/[.+?^${}()|[\]\\/]/g, '\\$&').replaceAll('*', '[^]*')}$`)
})
