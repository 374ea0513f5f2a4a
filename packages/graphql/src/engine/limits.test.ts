import { projectLabels, type User } from '@penstock/core'
import { getIntrospectionQuery } from 'graphql'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { GraphqlServer } from '../http/graphql-server.harness.ts'

let server: GraphqlServer
let root: User

beforeAll(async () => {
  server = await GraphqlServer.start()
  const { world } = server
  root = await world.user('root', { isAdministrator: true })
  await world.project('app', root, 'public')
  for (const name of ['bug', 'docs', 'feature']) {
    await world.perform(root, projectLabels.create, { parent: 'root/app', name, color: '#123456' })
  }
})
afterAll(() => server.close())

const repeated = (count: number, text: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => text(index)).join(' ')
/** Returns a query with the given complexity. */
const costly = (score: number) => `{ ${repeated(score, (index) => `a${index}:__typename`)} }`
const messages = (body: { errors?: { message: string }[] }) => body.errors?.map(({ message }) => message)

const ask = async (query: string, as?: User) => {
  const { status, body } = await server.ask(query, { ...(as && { as }) })
  expect(status).toBe(200)
  return body
}
const batch = async (queries: readonly string[], as?: User) => {
  const authorization = as && { authorization: `Bearer ${await server.tokenOf(as)}` }
  const headers = { 'content-type': 'application/json', ...authorization }
  const { status, body } = await server.send({
    method: 'POST',
    headers,
    body: JSON.stringify(queries.map((query) => ({ query }))),
  })
  expect(status).toBe(200)
  return body
}

describe('complexity', () => {
  const scoreOf = async (rest: string, variables?: Readonly<Record<string, number | boolean>>) => {
    const declared = Object.entries(variables ?? {}).map(
      ([name, value]) => `$${name}: ${typeof value === 'number' ? 'Int' : 'Boolean!'}`,
    )
    const head = variables ? `query(${declared.join()})` : ''
    const { body } = await server.ask(`${head} { queryComplexity { score limit } ${rest} }`, {
      ...(variables && { variables }),
    })
    return body.data.queryComplexity.score - 3
  }
  const labels = (given: string, fields = 'nodes { title }') =>
    `project(fullPath: "root/app") { labels(${given}) { ${fields} } }`

  test.each<[string, string, number, Readonly<Record<string, number | boolean>>?]>([
    ['an empty rest', '', 0],
    ['__typename', '__typename', 1],
    ['a lookup', 'project(fullPath: "a") { id }', 2],
    // children 2, own 1: 3; by the size: floor(3 × 1.05), floor(3 × 2)
    ['a connection by its page size', labels('first: 5'), 4],
    ['a connection from the end', labels('last: 5'), 4],
    ['the smallest of two sizes', 'project(fullPath: "a") { labels(first: 5, last: 90) { nodes { title } } }', 4],
    ['a connection without a page size, as 100', labels('title: "x"'), 7],
    ['a page size above 100, as 100', labels('first: 5000'), 7],
    ['a page size in a variable', labels('first: $n'), 4, { n: 5 }],
    [
      'parts of a connection',
      labels('first: 0', 'count pageInfo { hasNextPage endCursor } edges { cursor node { id } }'),
      10,
    ],
    ['a field that is selected twice', '__typename __typename ... on Query { __typename } ...{ __typename }', 1],
    ['selections that are merged', 'project(fullPath: "a") { id } project(fullPath: "a") { id name }', 3],
    ['a field under two aliases', 'a: __typename b: __typename', 2],
    [
      'fields that are left out',
      '__typename @skip(if: $yes) b: __typename @include(if: true) ... @include(if: false) { c: __typename }',
      1,
      { yes: true },
    ],
  ])('computes the score of %s', async (_, rest, score, variables) => {
    expect(await scoreOf(rest, variables)).toBe(score)
  })

  test('computes the published scores: 15 with a page of 5, 26 with a page of 100', async () => {
    const query = `query Score($n: Int) {
      queryComplexity { score limit }
      project(fullPath: "root/app") { issues(first: $n) { pageInfo { hasNextPage endCursor } nodes { id iid title state createdAt } } }
    }`
    const score = async (n: number) => (await server.ask(query, { variables: { n } })).body.data.queryComplexity.score
    expect([await score(5), await score(100)]).toEqual([15, 26])
  })

  test('limits anonymous callers to 200 and others to 250', async () => {
    const limit = '{ queryComplexity { score limit } }'
    expect((await ask(limit)).data.queryComplexity).toEqual({ score: 3, limit: 200 })
    expect((await ask(limit, root)).data.queryComplexity).toEqual({ score: 3, limit: 250 })
    const own = (score: number) => costly(score - 3).replace('{', '{ echo(text: "x") b:__typename c:__typename')
    expect((await ask(own(200))).data).toBeDefined()
    expect(await ask(own(201))).toEqual({
      errors: [{ message: 'Query has complexity of 201, which exceeds max complexity of 200' }],
    })
    expect((await ask(own(250), root)).data).toBeDefined()
    expect(await ask(own(251), root)).toEqual({
      errors: [{ message: 'Query has complexity of 251, which exceeds max complexity of 250' }],
    })
  })

  test('rejects all operations of a batch that exceeds the limit in total', async () => {
    const refused = (score: number) => ({
      errors: [{ message: `Query has complexity of ${score}, which exceeds max complexity of 200` }],
    })
    expect(await batch([costly(100), costly(100)])).toMatchObject([{ data: {} }, { data: {} }])
    expect(await batch([costly(100), '{ nope }', costly(101)])).toEqual([refused(201), refused(201), refused(201)])
    expect(await batch(['{ __typename }', costly(260)])).toEqual([refused(261), refused(261)])
    expect(await batch(Array(201).fill('{ __typename }'))).toEqual(Array(201).fill(refused(201)))
    expect(await batch(Array(250).fill('{ __typename }'), root)).toHaveLength(250)
  })
})

describe('depth and recursion', () => {
  const deep = (levels: number) =>
    `{ __type(name: "Query") { ${'ofType { '.repeat(levels - 2)} name ${'} '.repeat(levels - 1)}}`

  test('limits the depth to 15 for anonymous callers and to 20 for others', async () => {
    expect((await ask(deep(15))).data).toBeDefined()
    expect(messages(await ask(deep(16)))).toEqual(['Query has depth of 16, which exceeds max depth of 15'])
    expect((await ask(deep(20), root)).data).toBeDefined()
    expect(messages(await ask(deep(21), root))).toEqual(['Query has depth of 21, which exceeds max depth of 20'])
  })

  test('rejects the third level of a field name, and reports all exceeded limits together', async () => {
    const third =
      'project(fullPath: "root/app") { group { projects { nodes { group { projects { nodes { group { name } } } } } } } }'
    const recursive = 'Recursive query - too many of fields \'{"group"=>3}\' detected\nin single branch of the query'
    expect(messages(await ask(`{ ${third} }`))).toEqual([recursive])
    expect((await ask(`{ ${third.replace('group { name }', 'name')} }`)).data).toBeDefined()
    const all = `{ ${third.replace('name', 'projects { nodes { group { projects { nodes { group { projects { nodes { name } } } } } } } }')}
      ${repeated(200, (index) => `a${index}:__typename`)} }`
    expect(messages(await ask(all))).toEqual([
      expect.stringMatching(/^Query has complexity of \d{3}, which exceeds max complexity of 200$/),
      'Query has depth of 17, which exceeds max depth of 15',
      recursive,
    ])
  })
})

describe('introspection', () => {
  const options = {
    descriptions: true,
    specifiedByUrl: true,
    directiveIsRepeatable: true,
    schemaDescription: true,
    inputValueDeprecation: true,
    oneOf: true,
  }

  test.each([
    ['the standard document', {}],
    ['all options', options],
    ['without descriptions', { descriptions: false }],
    ['with deprecated arguments', { inputValueDeprecation: true }],
  ])('answers introspection to anonymous callers: %s', async (_, given) => {
    const body = await ask(getIntrospectionQuery(given))
    expect(messages(body)).toBeUndefined()
    expect(body.data.__schema.queryType).toMatchObject({ name: 'Query' })
  })

  test('limits pure introspection to 250 for all callers', async () => {
    expect((await ask(costly(250))).data).toBeDefined()
    expect(messages(await ask(costly(251)))).toEqual([
      'Query has complexity of 251, which exceeds max complexity of 250',
    ])
    expect(messages(await ask(costly(250).replace('{', '{ echo(text: "x")')))).toEqual([
      'Query has complexity of 251, which exceeds max complexity of 200',
    ])
    const refused = { errors: [{ message: 'Query has complexity of 220, which exceeds max complexity of 200' }] }
    expect(await batch([costly(220)])).toEqual([refused])
  })
})

describe('page sizes', () => {
  test('reduces a page size above 100 to 100, and treats a negative one as 0', async () => {
    const page = async (given: string) =>
      (await ask(`{ project(fullPath: "root/app") { labels(${given}) { nodes { title } } } }`)).data.project.labels
        .nodes.length
    expect([await page('first: 5000'), await page('first: 2'), await page('last: -1')]).toEqual([3, 2, 0])
  })
})
