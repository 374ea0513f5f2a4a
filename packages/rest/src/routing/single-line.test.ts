import { parseInput } from '@penstock/core'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { areas } from '../areas.ts'
import { shapeOf, traitsOf } from './schema-traits.ts'

const names = ['title', 'name'] as const

/** Every operation of REST that changes something and takes a title or a name, once. */
const rows = [
  ...new Map(
    areas
      .flatMap(({ routes }) => routes)
      .filter(({ method }) => method !== 'GET')
      .flatMap(({ operation }) =>
        names
          .filter((name) => {
            const member = shapeOf(operation.input)?.[name]
            return member !== undefined && traitsOf(member).text
          })
          .map((name) => ({ id: `${operation.name} ${name}`, name, schema: shapeOf(operation.input)![name]! })),
      )
      .map((row) => [row.id, row]),
  ).values(),
]

/** Returns the paths of titles and names in the members of an input. */
function nestedNames(schema: z.core.$ZodType, path: readonly string[] = []): string[] {
  const { element, shape = {} } = traitsOf(schema)
  const members = Object.entries(shape).flatMap(([member, type]) => {
    const isNested = path.length > 0 && names.some((name) => name === member)
    return [...(isNested ? [[...path, member].join('.')] : []), ...nestedNames(type, [...path, member])]
  })
  return [...members, ...(element === undefined ? [] : nestedNames(element, [...path, '[]']))]
}

/** Why a title or a name in a member of an input may have line breaks, or what makes it one line. */
const nested: Readonly<Record<string, string>> = {
  createRelease: '`linkDrafts` makes the names of links one line',
  createGroupWikiPage: 'is part of the content of the page',
  updateGroupWikiPage: 'is part of the content of the page',
  createProjectWikiPage: 'is part of the content of the page',
  updateProjectWikiPage: 'is part of the content of the page',
  createFeatureFlag: 'is one of a few words',
  updateFeatureFlag: 'is one of a few words',
}

describe('titles and names are one line', () => {
  test('there are many', () => {
    expect(rows.length).toBeGreaterThan(20)
  })

  test('also in the members of an input, with exceptions that have a reason', () => {
    const operations = areas
      .flatMap(({ routes }) => routes)
      .flatMap(({ method, operation }) => (method === 'GET' ? [] : operation))
    const found = operations.filter(({ input }) => nestedNames(input).length > 0).map(({ name }) => name)
    expect([...new Set(found)].sort()).toEqual(Object.keys(nested).sort())
  })

  test.each(rows)('$id', ({ name, schema }) => {
    const object = z.object({ [name]: schema as z.ZodType })
    const values = ['one\r\ntwo', 'one\ntwo\n', '\n\r\none\r\rtwo']
    const parsed = values.map((value) => {
      try {
        return parseInput(object, { [name]: value })[name]
      } catch {
        return 'refused'
      }
    })
    // Some names have no spaces, so such a value is refused; none is stored with a line break.
    for (const value of parsed) expect(['one two', 'refused']).toContain(value)
  })
})
