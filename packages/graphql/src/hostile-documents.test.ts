import process from 'node:process'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { GraphqlServer } from './graphql-server.case.ts'

let server: GraphqlServer

beforeAll(async () => {
  server = await GraphqlServer.start()
  // What is compiled at first use is not what is measured.
  await server.ask('{ __schema { types { name } } }')
})
afterAll(() => server.close())

const times = (count: number, of: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => of(index)).join(' ')
const letters = 'abcdefghijklmnopqrstuvwxyz'

/** Each as much as fits into 10,000 characters, or into a batch. */
const documents: Readonly<Record<string, string>> = {
  'selections that never end': '{a'.repeat(4_990),
  'selections 3,300 deep': '{a'.repeat(3_300) + '}'.repeat(3_300),
  'lists 4,900 deep': `{ echo(text: ${'['.repeat(4_900)}${']'.repeat(4_900)}) }`,
  'objects 1,600 deep': `{ echo(text: ${'{a:'.repeat(1_600)}1${'}'.repeat(1_600)}) }`,
  'a list of 4,900': `{ echo(text: [${'1 '.repeat(4_900)}]) }`,
  'inline fragments 190 deep': `{ ${'...{'.repeat(190)}__typename${'}'.repeat(190)} }`,
  'one field 4,990 times': `{ ${'a '.repeat(4_990)}}`,
  'one field 900 times, which there is': `{ ${'__typename '.repeat(900)}}`,
  'one inline fragment 1,600 times': `{ ${'...{a}'.repeat(1_600)}}`,
  'fields that have to be compared with each other': `{ ${times(50, () => `x:__schema{${times(16, () => '__typename')}}`)} }`,
  'the same through fragments': `{${times(180, (index) => `...F${index}`)}} ${times(180, (index) => `fragment F${index} on Query{x:__typename}`)}`,
  'fragments that all use the later ones': `{...F0} ${times(48, (index) => `fragment F${index} on Query{${times(47 - index, (further) => `...F${index + further + 1}`)} a:__typename}`)}`,
  'fragments that double what is asked': `{...a} ${times(26, (index) => {
    const next = letters[index + 1]
    const inside = next === undefined ? 'kind' : `x:ofType{...${next}} y:ofType{...${next}}`
    return `fragment ${letters[index]} on ${index === 0 ? `Query{__type(name:"a"){...b}} fragment zz on __Type` : '__Type'}{${index === 0 ? 'kind' : inside}}`
  })}`.replace('{...a}', '{...a}'),
  'a fragment that uses itself': '{...A} fragment A on Query{...B} fragment B on Query{...A}',
  '330 aliases of one large fragment': `{ ${times(270, (index) => `a${index.toString(36)}:__schema{...F}`)} } fragment F on __Schema{ ${times(20, () => `...{__typename ${'...{__typename '.repeat(9)}${'}'.repeat(9)}}`)} }`,
  '300 directives': `{ a:__typename ${'@skip(if:true) '.repeat(600)}}`,
  '1,000 operations': times(1_000, (index) => `{a${index}}`).slice(0, 9_990),
  '700 variables': `query(${times(700, (index) => `$v${index}:Int`)}) { __typename }`,
  'a field of 9,000 letters': `{ ${'a'.repeat(9_000)} }`,
  '400 fields that are nearly one': `{ ${times(400, (index) => `currentUse${index.toString(36)}`)} }`,
  'lists of lists in the schema': `{__schema{types{possibleTypes{fields{type{name}}}interfaces{possibleTypes{fields{name}}}}}}`,
}

async function measured(body: unknown) {
  const before = process.cpuUsage()
  const answer = await server.send({
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const { user, system } = process.cpuUsage(before)
  return { ...answer, cpuMs: (user + system) / 1_000 }
}

test.each(Object.entries(documents))('%s: answered, in less than a second of work', async (_, query) => {
  expect(query.length).toBeLessThanOrEqual(10_000)
  const { status, body, cpuMs } = await measured({ query })
  expect(status).toBe(200)
  expect(body.data ?? body.errors).toBeDefined()
  expect(cpuMs).toBeLessThan(1_000)
})

test.each(Object.entries(documents))('a batch of five of it, each a little other: %s', async (_, query) => {
  const { status, cpuMs } = await measured(
    times(5, () => '_')
      .split(' ')
      .map((_, index) => ({ query: query.slice(0, 9_990) + ' '.repeat(index) })),
  )
  expect(status).toBe(200)
  expect(cpuMs).toBeLessThan(2_500)
})

test.each<[string, unknown]>([
  ['empty elements', Array(49_000).fill({})],
  ['elements that say nothing', Array(12_000).fill({ query: '{x}' })],
  ['elements of one field', Array(250).fill({ query: '{ __typename }' })],
  ['large variables', { query: 'query($t: [String!]) { __typename }', variables: { t: Array(49_000).fill('x') } }],
])('%s', async (_, sent) => {
  const { status, cpuMs } = await measured(sent)
  expect(status).toBe(200)
  expect(cpuMs).toBeLessThan(1_000)
})
