import { type FragmentDefinitionNode, Kind, type OperationDefinitionNode, parse } from 'graphql'
import { describe, expect, test } from 'vitest'
import { nestingOf } from './nesting.ts'
import { TraversalBudget, TraversalBudgetExceeded } from './traversal-budget.ts'

function nesting(text: string, variables: Record<string, unknown> = {}) {
  const { definitions } = parse(text)
  const fragments = definitions.filter((each): each is FragmentDefinitionNode => each.kind === Kind.FRAGMENT_DEFINITION)
  return nestingOf(
    {
      fragments: Object.fromEntries(fragments.map((each) => [each.name.value, each])),
      variables,
      traversal: new TraversalBudget(),
    },
    definitions[0] as OperationDefinitionNode,
  )
}

describe('depth', () => {
  test.each<[string, number]>([
    ['{ project { id } }', 2],
    ['{ project { issues { nodes { title } } } }', 4],
    ['{ a { b } c { d { e } } }', 3],
    ['{ a { ... on B { ... { b } } } }', 2],
    ['{ a { ...F } } fragment F on A { b { ...G } } fragment G on B { c }', 3],
    ['{ a { b @skip(if: true) { c { d } } e } }', 2],
    ['{ a { ...F @include(if: false) e } } fragment F on A { b { c } }', 2],
  ])('%s has depth %i', (text, depth) => {
    expect(nesting(text).depth).toBe(depth)
  })

  test('ignores selections that a variable leaves out', () => {
    const text = 'query($x: Boolean!) { a { b @include(if: $x) { c } } }'
    expect([nesting(text, { x: true }).depth, nesting(text, { x: false }).depth]).toEqual([3, 1])
  })
})

describe('recursion', () => {
  test.each<[string, object | undefined]>([
    ['{ a { a { b } } }', undefined],
    ['{ a { a { a } } }', undefined],
    ['{ a { a { a { b } } } }', { name: 'a', times: 3 }],
    ['{ x: a { y: a { z: a { b } } } }', { name: 'a', times: 3 }],
    ['{ a { b { a { b { a { c } } } } } }', { name: 'a', times: 3 }],
    ['{ a { b } a { b { a { c } } } a { b } }', undefined],
    [
      '{ nodes { nodes { nodes { nodes { edges { node { node { node { edges { edges { a } } } } } } } } } } }',
      undefined,
    ],
    ['{ ofType { ofType { ofType { name } } } }', undefined],
    ['{ a { ...F } } fragment F on A { a { ...G } } fragment G on A { a { b } }', { name: 'a', times: 3 }],
    ['{ ...G a { ...F } } fragment F on A { a { ...G } } fragment G on A { a { b } }', { name: 'a', times: 3 }],
    ['{ a { a { a @skip(if: true) { b } } } }', undefined],
  ])('finds recursion in %s', (text, recursive) => {
    expect(nesting(text).recursive).toEqual(recursive)
  })
})

test('stops at fragments that spread each other exponentially often', () => {
  const names = 'abcdefghijklmnopqrst'.split('')
  const fragments = names.map((name, index) => {
    const next = names[index + 1]
    return `fragment ${name} on A { ${next === undefined ? 'id' : `x${name} { ...${next} } y${name} { ...${next} }`} }`
  })
  expect(() => nesting(`{ ...a } ${fragments.join(' ')}`)).toThrow(TraversalBudgetExceeded)
})
