import process from 'node:process'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { GraphqlServer } from '../http/graphql-server.harness.ts'

let server: GraphqlServer
/** Allows bodies above 64 KiB, the limit for anonymous callers. */
let token: string

beforeAll(async () => {
  server = await GraphqlServer.start()
  token = await server.tokenOf(await server.world.user('mia'))
  // Compiles the code paths, so that the tests do not measure that.
  await server.ask('{ __schema { types { name } } }')
})
afterAll(() => server.close())

const times = (count: number, text: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => text(index)).join(' ')

const refused = (message: RegExp) => ({
  errors: expect.arrayContaining([expect.objectContaining({ message: expect.stringMatching(message) })]),
})
const tooDeep = refused(/^Syntax Error: nested deeper than 200$/)
const tooOften = (what: string) => refused(new RegExp(`^'${what}' is selected too often in one place$`))
/** The score is the number of steps after which measuring stopped. */
const measurementStopped = refused(/^Query has complexity of \d00000, which exceeds max complexity of 2\d0$/)

interface Hostile {
  readonly name: string
  readonly query: string
  /** The response, which shows the limit that stopped the document. */
  readonly expected: object
}

/** @param name contains `#` in place of the count */
const many = (count: number, name: string, query: (count: number) => string, expected: object): Hostile => ({
  ...{ name: name.replace('#', count.toLocaleString('en')), query: query(count), expected },
})

/** The documents, each about as large as the limit of 10,000 characters permits. */
const documents: readonly Hostile[] = [
  many(4_990, '# selections without closing braces', (count) => '{a'.repeat(count), tooDeep),
  many(3_300, 'selections # deep', (count) => '{a'.repeat(count) + '}'.repeat(count), tooDeep),
  many(4_900, 'lists # deep', (count) => `{ echo(text: ${'['.repeat(count)}${']'.repeat(count)}) }`, tooDeep),
  many(1_600, 'objects # deep', (count) => `{ echo(text: ${'{a:'.repeat(count)}1${'}'.repeat(count)}) }`, tooDeep),
  many(
    4_900,
    'a list of #',
    (count) => `{ echo(text: [${'1 '.repeat(count)}]) }`,
    refused(/^Argument 'text' on Field 'echo' has an invalid value \(\[1, 1/),
  ),
  many(190, 'inline fragments # deep', (count) => `{ ${'...{'.repeat(count)}__typename${'}'.repeat(count)} }`, {
    data: { __typename: 'Query' },
  }),
  many(4_990, 'one field # times', (count) => `{ ${'a '.repeat(count)}}`, tooOften('a')),
  many(900, 'one existing field # times', (count) => `{ ${'__typename '.repeat(count)}}`, tooOften('__typename')),
  many(1_600, 'one inline fragment # times', (count) => `{ ${'...{a}'.repeat(count)}}`, tooOften('\\.\\.\\.')),
  many(
    50,
    '# selections that must be compared pairwise',
    (count) => `{ ${times(count, () => `x:__schema{${times(16, () => '__typename')}}`)} }`,
    // The library counts its comparisons.
    refused(/^Validation aborted\.$/),
  ),
  many(
    180,
    '# fragments that must be compared pairwise',
    (count) =>
      `{${times(count, (index) => `...F${index}`)}} ${times(count, (index) => `fragment F${index} on Query{x:__typename}`)}`,
    { data: { x: 'Query' } },
  ),
  many(
    48,
    '# fragments that each spread all later ones',
    (count) => {
      const laterOnes = (index: number) => times(count - 1 - index, (further) => `...F${index + further + 1}`)
      return `{...F0} ${times(count, (index) => `fragment F${index} on Query{${laterOnes(index)} a:__typename}`)}`
    },
    { data: { a: 'Query' } },
  ),
  many(
    26,
    '# fragments that each double the selections',
    (count) => {
      const twice = (next: string) => `x:ofType{...${next}} y:ofType{...${next}}`
      const inside = (index: number) => (index === count - 1 ? 'kind' : twice(`F${index + 1}`))
      return `{__type(name:"Query"){...F0}} ${times(count, (index) => `fragment F${index} on __Type{${inside(index)}}`)}`
    },
    measurementStopped,
  ),
  many(
    2,
    '# fragments that spread each other',
    () => '{...A} fragment A on Query{...B} fragment B on Query{...A}',
    refused(/^Cannot spread fragment "A" within itself via "B"\.$/),
  ),
  many(
    270,
    '# aliases of one large fragment',
    (count) => {
      const inner = times(20, () => `...{__typename ${'...{__typename '.repeat(9)}${'}'.repeat(9)}}`)
      return `{ ${times(count, (index) => `a${index.toString(36)}:__schema{...F}`)} } fragment F on __Schema{ ${inner} }`
    },
    measurementStopped,
  ),
  many(
    600,
    '# directives',
    (count) => `{ a:__typename ${'@skip(if:true) '.repeat(count)}}`,
    refused(/^The directive "@skip" can only be used once at this location\.$/),
  ),
  many(
    1_000,
    '# operations',
    (count) => times(count, (index) => `{a${index}}`),
    refused(/^An operation name is required$/),
  ),
  many(
    700,
    '# variables',
    (count) => `query(${times(count, (index) => `$v${index}:Int`)}) { __typename }`,
    refused(/^Variable "\$v0" is never used\.$/),
  ),
  many(9_000, 'a field of # letters', (count) => `{ ${'a'.repeat(count)} }`, refused(/^Field 'a+' doesn't exist/)),
  many(
    400,
    '# fields with similar names',
    (count) => `{ ${times(count, (index) => `currentUse${index.toString(36)}`)} }`,
    refused(/^Field 'currentUse0' doesn't exist on type 'Query' \(Did you mean `currentUser`\?\)$/),
  ),
  many(
    3,
    'schema lists nested # deep',
    () => '{__schema{types{possibleTypes{fields{type{name}}}interfaces{possibleTypes{fields{name}}}}}}',
    refused(/^Maximum introspection depth exceeded$/),
  ),
]

async function measured(body: unknown, headers: Readonly<Record<string, string>> = {}) {
  const before = process.cpuUsage()
  const answer = await server.send({
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
  const { user, system } = process.cpuUsage(before)
  return { ...answer, cpuMs: (user + system) / 1_000 }
}

const BATCH = 5

const named = documents.map((each) => [each.name, each] as const)

test.each(named)('answers within 1 s of CPU time: %s', async (_, { query, expected }) => {
  expect(query.length).toBeLessThanOrEqual(10_000)
  const { status, body, cpuMs } = await measured({ query })
  expect(status).toBe(200)
  expect(body).toEqual(expected)
  expect(cpuMs).toBeLessThan(1_000)
})

test.each(named)(
  `answers a batch of ${BATCH} variants within 2.5 s of CPU time: %s`,
  async (_, { query, expected }) => {
    const batch = Array.from({ length: BATCH }, (_, index) => ({ query: query + ' '.repeat(index) }))
    const { status, body, cpuMs } = await measured(batch)
    expect(status).toBe(200)
    expect(body).toEqual(batch.map(() => expected))
    expect(cpuMs).toBeLessThan(2_500)
  },
)

/** Returns the errors of a batch that is too complex in total. */
const tooCostly = (count: number) =>
  Array(count).fill(refused(new RegExp(`^Query has complexity of ${count}, which exceeds max complexity of 250$`)))

test.each<[count: number, name: string, sent: (count: number) => unknown, expected: unknown]>([
  [19_000, 'empty elements', (count) => Array(count).fill({}), tooCostly(19_000)],
  [12_000, 'elements with an invalid field', (count) => Array(count).fill({ query: '{x}' }), tooCostly(12_000)],
  [300, 'elements of one field', (count) => Array(count).fill({ query: '{ __typename }' }), tooCostly(300)],
  [
    49_000,
    'values of a variable',
    (count) => ({
      query: 'query($names: [String!]) { users(usernames: $names) { nodes { id } } }',
      variables: { names: Array(count).fill('x') },
    }),
    { data: { users: null }, ...refused(/^Usernames is invalid$/) },
  ],
])('answers within 1 s of CPU time: %i %s', async (count, _, sent, expected) => {
  const { status, body, cpuMs } = await measured(sent(count), { authorization: `Bearer ${token}` })
  expect(status).toBe(200)
  expect(body).toEqual(expected)
  expect(cpuMs).toBeLessThan(1_000)
})

test('rejects more elements than the limit on objects before it parses them', async () => {
  const { status, body } = await measured(Array(49_000).fill({}), { authorization: `Bearer ${token}` })
  expect(status).toBe(400)
  expect(body).toEqual({
    errors: [{ message: expect.stringMatching(/^JSON has more than 20,000 arrays and objects/) }],
  })
})
