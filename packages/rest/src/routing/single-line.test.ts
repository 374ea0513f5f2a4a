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

describe('titles and names are one line', () => {
  test('there are many', () => {
    expect(rows.length).toBeGreaterThan(20)
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
