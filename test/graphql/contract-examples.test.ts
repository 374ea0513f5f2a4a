import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { User } from '@penstock/core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ContractWorld, contractWorld } from './contract-world.ts'
import { type Json, ServedWorld } from './served-world.ts'

type NamedExample = [title: string, Example]
interface Example {
  readonly title: string
  readonly caller: string
  readonly score: number
  readonly query: string
  readonly variables: string | undefined
  readonly answer: string
}

/**
 * Adapts the expected data where this service differs from the examples: it has no stars and starts no pipelines.
 */
const adaptations: Readonly<Record<string, (data: Json) => void>> = {
  '7. Project page data': ({ project }) => {
    project.starCount = 0
  },
  '11. Retry a pipeline': (data) => {
    Object.assign(data.pipelineRetry, { errors: ['Pipeline is not retryable'], pipeline: null })
  },
  '14. Start a pipeline and play a manual job': (data) => {
    const errors = ['Pipelines are started elsewhere and recorded here']
    Object.assign(data.pipelineCreate, { errors, pipeline: null })
    Object.assign(data.jobPlay, { errors: ['Job is not playable'], job: null })
  },
  // The order is that of REST: by the paths of the files.
  '24. Wiki pages': ({ project }) => project.wikiPages.nodes.reverse(),
}

const sections = readFileSync(join(import.meta.dirname, 'contract-examples.md'), 'utf8')
  .split(/^### /m)
  .slice(1)
const examples = sections.map((section): Example => {
  const part = (form: RegExp) => form.exec(section)?.[1]
  return {
    title: part(/^(.+)$/m)!,
    caller: part(/^Caller: (\w+)/m)!,
    score: Number(part(/score (\d+)/)),
    query: part(/^```gql\n(.*?)^```/ms)!,
    variables: part(/^Variables: `(.+)`$/m),
    answer: part(/^```json\n(.*?)^```/ms)!,
  }
})

let served: ServedWorld
let contract: ContractWorld

beforeAll(async () => {
  served = await ServedWorld.start()
  contract = await contractWorld(served)
})
afterAll(() => served.close())

const callerOf = ({ caller }: Example): User | undefined => contract.callers[caller as keyof ContractWorld['callers']]

/** Returns the request to send. The document keeps the lines and columns of the example. */
function requestOf({ query, variables }: Example): { query: string; variables: Json } {
  return {
    query: contract.translated(query),
    variables: variables === undefined ? undefined : JSON.parse(contract.translated(variables)),
  }
}

/** Prints data in the order of its keys. Cursors are replaced, because their content is not specified. */
const printed = (data: Json): string =>
  JSON.stringify(data, (key, value) => (key === 'endCursor' && value !== '' ? typeof value : value), 2)

/**
 * Five operations with a score of 250, the limit of a batch. With another operation the batch is rejected with its total
 * score.
 */
const padding = Array(5).fill({
  query: `{ ${Array.from({ length: 50 }, (_, index) => `a${index}: __typename`).join(' ')} }`,
})

/** The variables with which an example is measured. Its own are rejected before the score counts. */
const validVariables: Readonly<Record<string, Json>> = {
  '25. Wrong kind of GID in a variable': { id: 'gid://svc/ProjectSnippet/19' },
}

async function scoreOf(example: Example): Promise<number> {
  const request = requestOf(example)
  const operation = { ...request, variables: validVariables[example.title] ?? request.variables }
  const { body } = await served.send('/api/graphql', callerOf(example), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify([operation, ...padding]),
  })
  const [, total] = /^Query has complexity of (\d+),/.exec(body[0].errors[0].message) ?? []
  return Number(total) - 250
}

test('finds 25 examples, each with a caller and a score', () => {
  expect(examples.map(({ title }) => Number.parseInt(title, 10))).toEqual(Array.from({ length: 25 }, (_, n) => n + 1))
  for (const example of examples) {
    expect(example.caller).toMatch(/^(alice|mia|anonymous)$/)
    expect(example.score).toBeGreaterThan(0)
  }
  const titles = examples.map(({ title }) => title)
  expect(titles).toEqual(expect.arrayContaining(Object.keys(adaptations)))
})

const named: NamedExample[] = examples.map((each) => [each.title, each])

test.each(named)('answers example %s', async (title, example) => {
  const { query, variables } = requestOf(example)
  const { status, body } = await served.graphql(query, callerOf(example), variables)
  const expected = JSON.parse(contract.translated(example.answer))
  adaptations[title]?.(expected.data)
  expect(body.errors).toEqual(expected.errors)
  expect(printed(body.data)).toBe(printed(expected.data))
  expect(status).toBe(200)
})

test.each(named)('computes the score of example %s', async (_, example) => {
  expect(await scoreOf(example)).toBe(example.score)
})

test('returns null without an error for the variables of example 15 to a Developer', async () => {
  const { query } = requestOf(examples[14]!)
  const { body } = await served.graphql(query, contract.callers.alice)
  expect(body).toEqual({ data: { project: { ciVariables: null, inheritedCiVariables: null } } })
})
