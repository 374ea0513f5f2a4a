import type { User } from '@penstock/core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Answer, GraphqlServer } from './graphql-server.case.ts'

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
const said = (text: string, by: 'null' | 'root' = 'null') => ({
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
const told = ({ status, body }: Answer) => [status, body]
const refused = (status: number, message: string) => [status, { errors: [{ message }] }]

describe('forms of a request (1.1)', () => {
  test('JSON; other members are ignored, and so is what the caller would accept', async () => {
    const answer = await post(
      { query: ECHO, variables: { text: 'a' }, operationName: 'E', extensions: {}, id: 7 },
      { headers: { accept: 'application/graphql-response+json' } },
    )
    expect(told(answer)).toEqual([200, said('a')])
    expect(answer.headers.get('content-type')).toMatch(/^application\/json/)
  })

  test('a form, with variables as JSON', async () => {
    const form = { query: ECHO, variables: '{"text":"b & c"}', operationName: 'E' }
    expect(told(await server.send({ method: 'POST', body: new URLSearchParams(form) }))).toEqual([200, said('b & c')])
  })

  test('multipart, as fields or with everything in `operations`', async () => {
    const fields = new FormData()
    fields.set('query', '{ echo(text: "f") }')
    expect(told(await server.send({ method: 'POST', body: fields }))).toEqual([200, said('f')])
    const operations = new FormData()
    operations.set('operations', JSON.stringify({ query: ECHO, variables: { text: 'g' } }))
    operations.set('map', '{}')
    expect(told(await server.send({ method: 'POST', body: operations }))).toEqual([200, said('g')])
    operations.set('operations', '{')
    expect(told(await server.send({ method: 'POST', body: operations }))).toEqual([
      400,
      { error: 'operations is not valid JSON' },
    ])
  })

  test('the query of the address, by GET and by POST', async () => {
    const parameters = { query: ECHO, variables: '{"text":"d"}', operationName: 'E' }
    expect(told(await get(parameters))).toEqual([200, said('d')])
    const search = `?${new URLSearchParams(parameters)}`
    expect(told(await server.send({ method: 'POST' }, search))).toEqual([200, said('d')])
    expect(told(await post({ variables: { text: 'of the body' } }, { search }))).toEqual([200, said('of the body')])
  })

  test('HEAD is GET without a body', async () => {
    const ofHead = await server.send({ method: 'HEAD' }, '?query={__typename}')
    expect([ofHead.status, ofHead.body, Number(ofHead.headers.get('content-length'))]).toEqual([200, undefined, 31])
    expect((await server.send({ method: 'HEAD' }, '?query=mutation{__typename}')).status).toBe(422)
  })

  test('other bodies and methods are not served', async () => {
    expect(told(await post('{ __typename }', { headers: { 'content-type': 'application/graphql' } }))).toMatchObject([
      415,
      { errors: [{ message: expect.any(String) }] },
    ])
    const compressed = { 'content-type': 'application/json', 'content-encoding': 'gzip' }
    expect(told(await post('{}', { headers: compressed }))).toEqual([
      415,
      { errors: [{ message: 'The body must not be compressed' }] },
    ])
    for (const method of ['PUT', 'PATCH', 'DELETE']) {
      expect(told(await server.send({ method }))).toEqual(refused(404, 'Not found!'))
    }
  })

  test('a body that is no JSON is refused before GraphQL', async () => {
    expect(told(await post('{"query":'))).toEqual([400, { error: expect.any(String) }])
  })

  test.each([[7], [null], ['text'], [true], [{}], [{ query: ['{ __typename }'] }], [{ query: 7 }], [{ query: ' \n' }]])(
    '%j asks for nothing',
    async (body) => {
      expect(told(await post(JSON.stringify(body)))).toEqual([
        200,
        { errors: [{ message: 'Unexpected end of document', locations: [] }] },
      ])
    },
  )
})

describe('variables and operation name (1.1)', () => {
  const OPTIONAL = 'query E($text: String = "none") { echo(text: $text) }'

  test.each<[string, unknown, string]>([
    ['object', { text: 'a' }, 'a'],
    ['JSON in a string', '{"text":"a"}', 'a'],
    ['null', null, 'none'],
    ['empty string', '', 'none'],
    ['null in a string', 'null', 'none'],
    ['empty object', {}, 'none'],
    ['more than the operation has', { text: 'a', other: 1 }, 'a'],
  ])('%s', async (_, variables, text) => {
    expect(told(await post({ query: OPTIONAL, variables }))).toEqual([200, said(text)])
  })

  test.each([
    [[1], 'Unexpected parameter: [1]'],
    [7, 'Unexpected parameter: 7'],
    [true, 'Unexpected parameter: true'],
    ['[1]', 'Unexpected parameter: "[1]"'],
    ['{"text":', 'variables is not valid JSON'],
    [`{"text":${'['.repeat(32)}${']'.repeat(32)}}`, 'JSON is nested deeper than 32'],
  ])('%j is refused', async (variables, message) => {
    expect(told(await post({ query: OPTIONAL, variables }))).toEqual(refused(422, message))
  })

  test('of what is too long to be told back, the beginning is', async () => {
    const { body } = await post({ query: OPTIONAL, variables: [Array(1_000).fill(1)] })
    expect(body.errors[0].message).toHaveLength('Unexpected parameter: '.length + 100)
  })

  test('the operation of that name', async () => {
    const query = 'query A { a: __typename } query B { b: __typename }'
    expect(told(await post({ query, operationName: 'B' }))).toEqual([200, { data: { b: 'Query' } }])
    expect(told(await post({ query }))).toEqual(refused(200, 'An operation name is required'))
    expect(told(await post({ query, operationName: 'X' }))).toEqual(refused(200, 'No operation named "X"'))
    expect(told(await post({ query: '{ __typename }', operationName: '' }))).toEqual([
      200,
      { data: { __typename: 'Query' } },
    ])
    expect(told(await post({ query: 'fragment F on Query { __typename }' }))).toEqual(
      refused(200, 'An operation name is required'),
    )
  })
})

describe('sizes (1.1, 2.1)', () => {
  const padded = (characters: number, filling = 'x') => {
    const query = '{ __typename } #'
    return query + filling.repeat(characters - query.length)
  }

  test('10,000 characters, whatever bytes or code units they take, and variables not counted', async () => {
    const typename = [200, { data: { __typename: 'Query' } }]
    expect(told(await post({ query: padded(10_000) }))).toEqual(typename)
    expect(told(await post({ query: padded(10_000, '😀'), variables: { a: 'x'.repeat(20_000) } }))).toEqual(typename)
    expect(told(await post({ query: padded(10_001) }))).toEqual(refused(422, 'Query too large'))
    expect(told(await post({ query: padded(10_001, '😀') }))).toEqual(refused(422, 'Query too large'))
  })

  test('one too large refuses its whole batch, and so do many that are large together', async () => {
    const batch = (...sizes: number[]) => post(sizes.map((size) => ({ query: padded(size) })))
    expect(told(await batch(20, 10_001))).toEqual(refused(422, 'Query too large'))
    expect(await batch(...Array<number>(5).fill(10_000))).toMatchObject({ status: 200, body: { length: 5 } })
    expect(told(await batch(20, ...Array<number>(5).fill(10_000)))).toEqual(refused(422, 'Query too large'))
  })

  test.each<[string, string]>([
    ['nested deeper than 32', `{"query":"","a":${'['.repeat(32)}${']'.repeat(32)}}`],
    ['an array above 50,000', `{"query":"","a":[${'1,'.repeat(50_000)}1]}`],
    [
      'an object above 50,000',
      `{"query":"","a":{${Array.from({ length: 50_001 }, (_, index) => `"${index}":1`).join()}}}`,
    ],
    [
      '100,000 in all',
      `[${Array(3)
        .fill(`{"variables":{"a":[${'1,'.repeat(33_333)}1]}}`)
        .join()}]`,
    ],
    ['20,000 arrays and objects', `{"query":"","a":[${'{},'.repeat(20_000)}{}]}`],
    ['an integer of 1,001 digits', `{"query":"","a":${'9'.repeat(1_001)}}`],
  ])('%s: 400 before GraphQL', async (_, body) => {
    expect(told(await post(body, { headers: { authorization } }))).toEqual([
      400,
      { error: expect.stringMatching(/^JSON /) },
    ])
  })

  test('just within the limits of JSON', async () => {
    const deep = `${'['.repeat(31)}${']'.repeat(31)}`
    const wide = `[${'1,'.repeat(49_999)}1]`
    const body = `{"query":"{ __typename }","a":${deep},"b":${wide}}`
    expect((await post(body, { headers: { authorization } })).status).toBe(200)
  })

  test('the limits hold for JSON in a text: `operations` and variables of a form', async () => {
    const deep = `{"a":${'['.repeat(32)}${']'.repeat(32)}}`
    const operations = new FormData()
    operations.set('operations', deep)
    const message = 'JSON is nested deeper than 32'
    expect(told(await server.send({ method: 'POST', body: operations }))).toEqual([400, { error: message }])
    const form = new URLSearchParams({ query: ECHO, variables: deep })
    expect(told(await server.send({ method: 'POST', body: form }))).toEqual(refused(422, message))
  })

  test('a body of more than the server takes: 2 MiB, and 64 KiB of an anonymous caller', async () => {
    const tooLarge = refused(413, 'Request body too large')
    const padded = (bytes: number) => ({ query: '{ __typename }', a: 'x'.repeat(bytes) })
    expect(told(await post(padded(2 * 1024 * 1024), { headers: { authorization } }))).toEqual(tooLarge)
    expect((await post(padded(1024 * 1024), { headers: { authorization } })).status).toBe(200)
    expect(told(await post(padded(64 * 1024)))).toEqual(tooLarge)
    expect((await post(padded(63 * 1024))).status).toBe(200)
  })
})

describe('batches (1.2)', () => {
  const [a, b] = [{ query: '{ a: __typename }' }, { query: ECHO, variables: { text: 'b' } }]
  const both = [200, [{ data: { a: 'Query' } }, said('b')]]

  test('an array, or `_json`: the answers in order', async () => {
    expect(told(await post([a, b]))).toEqual(both)
    expect(told(await post({ _json: [a, b] }))).toEqual(both)
    expect(told(await post([]))).toEqual([200, []])
  })

  test('an element fails by itself', async () => {
    expect(told(await post([{ query: '{' }, { query: '{ nope }' }, 7, a]))).toMatchObject([
      200,
      [
        { errors: [{ message: expect.stringContaining('Syntax Error') }] },
        { errors: [{ extensions: { code: 'undefinedField' } }] },
        { errors: [{ message: 'Unexpected end of document', locations: [] }] },
        { data: { a: 'Query' } },
      ],
    ])
  })

  test('a `_json` that is no array is none', async () => {
    expect(told(await post({ _json: { query: '{ __typename }' } }))).toMatchObject(
      refused(200, 'Unexpected end of document'),
    )
    expect(told(await get({ _json: JSON.stringify([a]) }))).toMatchObject(refused(200, 'Unexpected end of document'))
  })

  test('variables in a string are dropped', async () => {
    expect(told(await post([{ query: ECHO, variables: '{"text":"b"}' }]))).toMatchObject([
      200,
      [{ errors: [{ message: 'Variable $text of type String! was provided invalid value' }] }],
    ])
  })

  test('mutations one after another, and the scores in all', async () => {
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

test('a mutation by GET is refused, be it wrong otherwise', async () => {
  const forbidden = refused(422, 'Mutations are forbidden in GET requests')
  expect(told(await get({ query: 'mutation { echoCreate(input: {}) { errors } }' }, { authorization }))).toEqual(
    forbidden,
  )
  expect(told(await get({ query: 'mutation { nope }' }))).toEqual(forbidden)
  const query = 'query Q { __typename } mutation M { __typename }'
  expect(told(await get({ query, operationName: 'M' }))).toEqual(forbidden)
  expect(told(await get({ query, operationName: 'Q' }))).toEqual([200, { data: { __typename: 'Query' } }])
})
