import type { User } from '@penstock/core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Answer, GraphqlServer } from './graphql-server.harness.ts'

let server: GraphqlServer
let root: User
let authorization: string

beforeAll(async () => {
  server = await GraphqlServer.start()
  root = await server.world.user('root', { isAdministrator: true })
  authorization = `Bearer ${await server.tokenOf(root)}`
})
afterAll(() => server.close())

const ECHO = 'query E($text: String!) { echo(text: $text) }'
const echoed = (text: string, by: 'null' | 'root' = 'null') => ({
  data: { echo: `${by === 'null' ? 'null' : '"root"'} says: ${text}` },
})

const post = (
  body: unknown,
  { search = '', headers = {} }: { search?: string; headers?: Record<string, string> } = {},
) =>
  server.send(
    {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    },
    search,
  )
const get = (parameters: Record<string, string>, headers = {}) =>
  server.send({ method: 'GET', headers }, `?${new URLSearchParams(parameters)}`)
const statusAndBody = ({ status, body }: Answer) => [status, body]
const refused = (status: number, message: string) => [status, { errors: [{ message }] }]

describe('forms of a request', () => {
  test('reads JSON, and ignores other members and the Accept header', async () => {
    const answer = await post(
      { query: ECHO, variables: { text: 'a' }, operationName: 'E', extensions: {}, id: 7 },
      { headers: { accept: 'application/graphql-response+json' } },
    )
    expect(statusAndBody(answer)).toEqual([200, echoed('a')])
    expect(answer.headers.get('content-type')).toMatch(/^application\/json/)
  })

  test('reads a form with variables as JSON', async () => {
    const form = { query: ECHO, variables: '{"text":"b & c"}', operationName: 'E' }
    expect(statusAndBody(await server.send({ method: 'POST', body: new URLSearchParams(form) }))).toEqual([
      200,
      echoed('b & c'),
    ])
  })

  test('reads multipart fields, or a JSON body in the field `operations`', async () => {
    const fields = new FormData()
    fields.set('query', '{ echo(text: "f") }')
    expect(statusAndBody(await server.send({ method: 'POST', body: fields }))).toEqual([200, echoed('f')])
    const operations = new FormData()
    operations.set('operations', JSON.stringify({ query: ECHO, variables: { text: 'g' } }))
    operations.set('map', '{}')
    expect(statusAndBody(await server.send({ method: 'POST', body: operations }))).toEqual([200, echoed('g')])
    operations.set('operations', '{')
    expect(statusAndBody(await server.send({ method: 'POST', body: operations }))).toEqual([
      400,
      { errors: [{ message: 'operations is not valid JSON' }] },
    ])
  })

  test('reads the query string of GET and POST', async () => {
    const parameters = { query: ECHO, variables: '{"text":"d"}', operationName: 'E' }
    expect(statusAndBody(await get(parameters))).toEqual([200, echoed('d')])
    const search = `?${new URLSearchParams(parameters)}`
    expect(statusAndBody(await server.send({ method: 'POST' }, search))).toEqual([200, echoed('d')])
    expect(statusAndBody(await post({ variables: { text: 'from body' } }, { search }))).toEqual([
      200,
      echoed('from body'),
    ])
  })

  test('answers HEAD like GET, without a body', async () => {
    const head = await server.send({ method: 'HEAD' }, '?query={__typename}')
    expect([head.status, head.body, Number(head.headers.get('content-length'))]).toEqual([200, undefined, 31])
    expect((await server.send({ method: 'HEAD' }, '?query=mutation{__typename}')).status).toBe(422)
  })

  test('rejects other content types and methods', async () => {
    expect(
      statusAndBody(await post('{ __typename }', { headers: { 'content-type': 'application/graphql' } })),
    ).toMatchObject([415, { errors: [{ message: expect.any(String) }] }])
    const compressed = { 'content-type': 'application/json', 'content-encoding': 'gzip' }
    expect(statusAndBody(await post('{}', { headers: compressed }))).toEqual([
      415,
      { errors: [{ message: 'The body must not be compressed' }] },
    ])
    for (const method of ['PUT', 'PATCH', 'DELETE']) {
      expect(statusAndBody(await server.send({ method }))).toEqual(refused(404, 'Not found!'))
    }
  })

  test('answers 400 to a body that is not JSON', async () => {
    expect(statusAndBody(await post('{"query":'))).toEqual(refused(400, 'The body is not valid JSON'))
  })

  test.each([[7], [null], ['text'], [true], [{}], [{ query: ['{ __typename }'] }], [{ query: 7 }], [{ query: ' \n' }]])(
    'treats %j as an empty document',
    async (body) => {
      expect(statusAndBody(await post(JSON.stringify(body)))).toEqual([
        200,
        { errors: [{ message: 'Unexpected end of document', locations: [] }] },
      ])
    },
  )
})

describe('variables and operation name', () => {
  const OPTIONAL = 'query E($text: String = "none") { echo(text: $text) }'

  test.each<[string, unknown, string]>([
    ['object', { text: 'a' }, 'a'],
    ['JSON in a string', '{"text":"a"}', 'a'],
    ['null', null, 'none'],
    ['empty string', '', 'none'],
    ['null in a string', 'null', 'none'],
    ['empty object', {}, 'none'],
    ['variables that the operation does not declare', { text: 'a', other: 1 }, 'a'],
  ])('accepts variables as %s', async (_, variables, text) => {
    expect(statusAndBody(await post({ query: OPTIONAL, variables }))).toEqual([200, echoed(text)])
  })

  test.each([
    [[1], 'Unexpected parameter: [1]'],
    [7, 'Unexpected parameter: 7'],
    [true, 'Unexpected parameter: true'],
    ['[1]', 'Unexpected parameter: "[1]"'],
    ['{"text":', 'variables is not valid JSON'],
    [`{"text":${'['.repeat(32)}${']'.repeat(32)}}`, 'JSON is nested deeper than 32'],
  ])('rejects %j as variables', async (variables, message) => {
    expect(statusAndBody(await post({ query: OPTIONAL, variables }))).toEqual(refused(422, message))
  })

  test('truncates a long value in an error message', async () => {
    const { body } = await post({ query: OPTIONAL, variables: [Array(1_000).fill(1)] })
    expect(body.errors[0].message).toHaveLength('Unexpected parameter: '.length + 100)
  })

  test('executes the operation with the given name', async () => {
    const query = 'query A { a: __typename } query B { b: __typename }'
    expect(statusAndBody(await post({ query, operationName: 'B' }))).toEqual([200, { data: { b: 'Query' } }])
    expect(statusAndBody(await post({ query }))).toEqual(refused(200, 'An operation name is required'))
    expect(statusAndBody(await post({ query, operationName: 'X' }))).toEqual(refused(200, 'No operation named "X"'))
    expect(statusAndBody(await post({ query: '{ __typename }', operationName: '' }))).toEqual([
      200,
      { data: { __typename: 'Query' } },
    ])
    expect(statusAndBody(await post({ query: 'fragment F on Query { __typename }' }))).toEqual(
      refused(200, 'An operation name is required'),
    )
  })
})

describe('size limits', () => {
  const padded = (characters: number, filling = 'x') => {
    const query = '{ __typename } #'
    return query + filling.repeat(characters - query.length)
  }

  test('limits a query to 10,000 characters, counted as code points without variables', async () => {
    const typename = [200, { data: { __typename: 'Query' } }]
    expect(statusAndBody(await post({ query: padded(10_000) }))).toEqual(typename)
    expect(statusAndBody(await post({ query: padded(10_000, '😀'), variables: { a: 'x'.repeat(20_000) } }))).toEqual(
      typename,
    )
    expect(statusAndBody(await post({ query: padded(10_001) }))).toEqual(refused(422, 'Query too large'))
    expect(statusAndBody(await post({ query: padded(10_001, '😀') }))).toEqual(refused(422, 'Query too large'))
  })

  test('limits each query of a batch to 10,000 characters, however the JSON escapes them', async () => {
    const batch = (...sizes: number[]) => post(sizes.map((size) => ({ query: padded(size) })))
    expect(statusAndBody(await batch(20, 10_001))).toEqual(refused(422, 'Query too large'))
    expect(await batch(...Array<number>(20).fill(10_000))).toMatchObject({ status: 200, body: { length: 20 } })
    const escaped = (text: string) =>
      text.replaceAll(/./gs, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    const query = `{"query":"${escaped(padded(10_000, '😀'))}"}`
    expect(query.length).toBeGreaterThan(115_000)
    expect(await post(`[${query},${query}]`)).toMatchObject({ status: 200, body: { length: 2 } })
    expect((await post(`[${query},{"query":"${escaped(padded(10_001))}"}]`)).status).toBe(422)
  })

  test.each<[string, string]>([
    ['JSON nested deeper than 32', `{"query":"","a":${'['.repeat(32)}${']'.repeat(32)}}`],
    ['an array with more than 50,000 elements', `{"query":"","a":[${'1,'.repeat(50_000)}1]}`],
    [
      'objects with more than 20,000 members',
      `{"query":"","a":{${Array.from({ length: 20_001 }, (_, index) => `"${index}":1`).join()}}}`,
    ],
    [
      '100,000 values',
      `[${Array(3)
        .fill(`{"variables":{"a":[${'1,'.repeat(33_333)}1]}}`)
        .join()}]`,
    ],
    ['20,000 arrays and objects', `{"query":"","a":[${'{},'.repeat(20_000)}{}]}`],
    ['an integer of 1,001 digits', `{"query":"","a":${'9'.repeat(1_001)}}`],
  ])('answers 400 to %s', async (_, body) => {
    expect(statusAndBody(await post(body, { headers: { authorization } }))).toEqual([
      400,
      { errors: [{ message: expect.stringMatching(/^JSON /) }] },
    ])
  })

  test('accepts JSON that is just within the limits', async () => {
    const deep = `${'['.repeat(31)}${']'.repeat(31)}`
    const wide = `[${'1,'.repeat(49_999)}1]`
    const members = `{${Array.from({ length: 19_995 }, (_, index) => `"${index}":1`)}}`
    const body = `{"query":"{ __typename }","a":${deep},"b":${wide},"c":${members}}`
    expect((await post(body, { headers: { authorization } })).status).toBe(200)
  })

  test('applies the JSON limits to `operations` and variables of a form', async () => {
    const deep = `{"a":${'['.repeat(32)}${']'.repeat(32)}}`
    const operations = new FormData()
    operations.set('operations', deep)
    const message = 'JSON is nested deeper than 32'
    expect(statusAndBody(await server.send({ method: 'POST', body: operations }))).toEqual(refused(400, message))
    const form = new URLSearchParams({ query: ECHO, variables: deep })
    expect(statusAndBody(await server.send({ method: 'POST', body: form }))).toEqual(refused(422, message))
  })

  test('answers 413 to a body above 2 MiB, or above 1 MiB from an anonymous caller', async () => {
    const tooLarge = refused(413, 'Request body too large')
    const padded = (bytes: number) => ({ query: '{ __typename }', a: 'x'.repeat(bytes) })
    expect(statusAndBody(await post(padded(2 * 1024 * 1024), { headers: { authorization } }))).toEqual(tooLarge)
    expect((await post(padded(1024 * 1024), { headers: { authorization } })).status).toBe(200)
    expect(statusAndBody(await post(padded(1024 * 1024)))).toEqual(tooLarge)
    expect((await post(padded(1023 * 1024))).status).toBe(200)
  })
})

describe('batches', () => {
  const [a, b] = [{ query: '{ a: __typename }' }, { query: ECHO, variables: { text: 'b' } }]
  const both = [200, [{ data: { a: 'Query' } }, echoed('b')]]

  test('answers an array, or `_json`, in order', async () => {
    expect(statusAndBody(await post([a, b]))).toEqual(both)
    expect(statusAndBody(await post({ _json: [a, b] }))).toEqual(both)
    expect(statusAndBody(await post([]))).toEqual([200, []])
  })

  test('reports errors per element', async () => {
    expect(statusAndBody(await post([{ query: '{' }, { query: '{ nope }' }, 7, a]))).toMatchObject([
      200,
      [
        { errors: [{ message: expect.stringContaining('Syntax Error') }] },
        { errors: [{ extensions: { code: 'undefinedField' } }] },
        { errors: [{ message: 'Unexpected end of document', locations: [] }] },
        { data: { a: 'Query' } },
      ],
    ])
  })

  test('ignores a `_json` that is not an array', async () => {
    expect(statusAndBody(await post({ _json: { query: '{ __typename }' } }))).toMatchObject(
      refused(200, 'Unexpected end of document'),
    )
    expect(statusAndBody(await get({ _json: JSON.stringify([a]) }))).toMatchObject(
      refused(200, 'Unexpected end of document'),
    )
  })

  test('ignores variables in a string', async () => {
    expect(statusAndBody(await post([{ query: ECHO, variables: '{"text":"b"}' }]))).toMatchObject([
      200,
      [{ errors: [{ message: 'Variable $text of type String! was provided invalid value' }] }],
    ])
  })

  test('executes mutations in order', async () => {
    const create = (message: string) => ({
      query: `mutation { echoCreate(input: { messages: ["${message}"] }) { echoes errors } }`,
    })
    const results = await post([create('x'), create('y')], { headers: { authorization } })
    expect(results.body.map(({ data }: { data: { echoCreate: object } }) => data.echoCreate)).toEqual([
      { echoes: ['x'], errors: [] },
      { echoes: ['y'], errors: [] },
    ])
  })
})

test('rejects a mutation by GET, also an invalid one', async () => {
  const forbidden = refused(422, 'Mutations are forbidden in GET requests')
  expect(
    statusAndBody(await get({ query: 'mutation { echoCreate(input: {}) { errors } }' }, { authorization })),
  ).toEqual(forbidden)
  expect(statusAndBody(await get({ query: 'mutation { nope }' }))).toEqual(forbidden)
  const query = 'query Q { __typename } mutation M { __typename }'
  expect(statusAndBody(await get({ query, operationName: 'M' }))).toEqual(forbidden)
  expect(statusAndBody(await get({ query, operationName: 'Q' }))).toEqual([200, { data: { __typename: 'Query' } }])
})
