import { assertValidSchema, buildSchema, getIntrospectionQuery, printSchema } from 'graphql'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { GraphqlServer } from '../http/graphql-server.harness.ts'
import { createSchema } from '../schema.ts'
import { withoutDeprecated } from './without-deprecated.ts'

test('removes deprecated fields, arguments, input fields and enum values', () => {
  const schema = buildSchema(`
    type Query { old: Int @deprecated(reason: "see new") new(by: String @deprecated, order: Order = NEW): Int make(input: Input): Int }
    enum Order { OLD @deprecated NEW }
    input Input { old: Int @deprecated new: Int }
  `)
  expect(printSchema(withoutDeprecated(schema)).replaceAll(/\s+/g, ' ').trim()).toBe(
    'type Query { new(order: Order = NEW): Int make(input: Input): Int } enum Order { NEW } input Input { new: Int }',
  )
})

describe('remove_deprecated', () => {
  let server: GraphqlServer

  beforeAll(async () => {
    server = await GraphqlServer.start()
  })
  afterAll(() => server.close())

  const introspection = getIntrospectionQuery({ inputValueDeprecation: true, descriptions: false })
  /** Returns the number of deprecated items in the result of introspection. */
  async function deprecated(send: (query: string) => ReturnType<GraphqlServer['send']>): Promise<number> {
    const { body } = await send(introspection)
    return JSON.stringify(body.data.__schema).split('"isDeprecated":true').length - 1
  }
  const json =
    (more: object, search = '') =>
    (query: string) =>
      server.send(
        { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ query, ...more }) },
        search,
      )

  test('leaves a valid schema with printable default values', () => {
    const schema = createSchema(server.world.core.settings)
    expect(() => printSchema(withoutDeprecated(schema))).not.toThrow()
    expect(() => assertValidSchema(withoutDeprecated(schema))).not.toThrow()
  })

  test.each<[string, object, string?]>([
    ['true in JSON', { remove_deprecated: true }],
    ['a string in JSON', { remove_deprecated: 'yes' }],
    ['a number in JSON', { remove_deprecated: 1 }],
    ['in the query string', {}, '?remove_deprecated=t'],
    ['in the query string, on', {}, '?remove_deprecated=on'],
  ])('hides deprecated items from introspection: %s', async (_, more, search) => {
    expect(await deprecated(json(more, search))).toBe(0)
  })

  test.each<[string, object, string?]>([
    ['parameter absent', {}],
    ['false', { remove_deprecated: false }],
    ['no', {}, '?remove_deprecated=no'],
    ['false in the body, true in the query string', { remove_deprecated: 'false' }, '?remove_deprecated=true'],
  ])('shows deprecated items: %s', async (_, more, search) => {
    expect(await deprecated(json(more, search))).toBeGreaterThan(0)
  })

  test('reads the parameter from a form and from the query string of GET', async () => {
    const sendForm = (query: string) =>
      server.send({ method: 'POST', body: new URLSearchParams({ query, remove_deprecated: '1' }) })
    const sendQueryString = (query: string) =>
      server.send({ method: 'GET' }, `?${new URLSearchParams({ query, remove_deprecated: 'y' })}`)
    expect([await deprecated(sendForm), await deprecated(sendQueryString)]).toEqual([0, 0])
  })

  test('accepts deprecated items unless the request removes them', async () => {
    const query = '{ project(fullPath: "a") { issues(sort: created_desc) { nodes { id } } } }'
    expect((await json({})(query)).body).toEqual({ data: { project: null } })
    const gone = (await json({ remove_deprecated: true })(query)).body
    expect(gone).toMatchObject({ errors: [{ extensions: { code: 'argumentLiteralsIncompatible' } }] })
    const batch = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify([{ query }]) }
    expect((await server.send(batch, '?remove_deprecated=true')).body[0].errors).toHaveLength(1)
  })

  test('prints the current name of a default value with a deprecated name', async () => {
    const query = '{ __type(name: "Project") { fields { name args { name defaultValue } } } }'
    const sortOf = async (more: object) => {
      const { body } = await json(more)(query)
      const field = body.data.__type.fields.find(({ name }: { name: string }) => name === 'issues')
      return field.args.find(({ name }: { name: string }) => name === 'sort').defaultValue
    }
    expect([await sortOf({}), await sortOf({ remove_deprecated: true })]).toEqual(['created_desc', 'CREATED_DESC'])
  })
})
