import { expect, test } from 'vitest'
import { z } from 'zod'
import { areas } from '../areas.ts'
import { holdsSecrets } from './holds-secrets.ts'

test.each([
  [z.object({ id: z.int(), title: z.string() }), false],
  [z.object({ id: z.int(), token: z.string().nullable() }), true],
  [z.array(z.object({ variables: z.array(z.object({ value: z.string() })) })), true],
  [z.object({ project: z.object({ runners_token: z.string() }) }), true],
  [z.record(z.string(), z.string()), true],
  [z.object({ token_type: z.string(), keyset: z.boolean() }), false],
])('finds the names of secrets in a schema', (schema, expected) => {
  expect(holdsSecrets(schema)).toBe(expected)
})

test('answers about issues and notes are compressed, and variables and settings are not', () => {
  const gets = areas
    .flatMap(({ routes }) => routes)
    .filter(({ method, shape }) => method === 'GET' && shape !== undefined)
  const secret = gets.filter(({ shape }) => holdsSecrets(shape!.schema)).map(({ path }) => path)
  expect(secret.filter((path) => /issues|notes/.test(path))).toEqual([])
  expect(secret).toEqual(
    expect.arrayContaining(['/projects/:id/variables', '/projects/:id/variables/:key', '/application/settings']),
  )
})

test.each([
  ['parent', 'child'],
  ['child', 'parent'],
])('finds the secret of schemas that refer to each other, whichever is asked first: %s, %s', (...order) => {
  const child = z.object({
    id: z.int(),
    get parent() {
      return parent
    },
  })
  const parent = z.object({
    get children() {
      return z.array(child)
    },
    token: z.string(),
  })
  const schemas = { parent, child }
  const found = order.map((name) => holdsSecrets(schemas[name as keyof typeof schemas]))
  expect(found).toEqual([true, true])
})

test('schemas that refer to each other have no secret if none of their members has', () => {
  const one = z.object({
    get other() {
      return other
    },
  })
  const other = z.object({
    id: z.int(),
    get one() {
      return z.array(one)
    },
  })
  expect([one, other, one].map(holdsSecrets)).toEqual([false, false, false])
})
