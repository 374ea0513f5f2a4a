import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { User } from '@penstock/core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type ContractWorld, contractWorld } from './contract-world.ts'
import { type Json, ServedWorld } from './served-world.ts'

type Titled = [title: string, Example]
interface Example {
  readonly title: string
  readonly caller: string
  readonly score: number
  readonly query: string
  readonly variables: string | undefined
  readonly answer: string
}

/**
 * Where this service answers otherwise than the contract invents: it has no snippets and stars, starts no pipelines, and
 * does not check whether a merge request could be merged.
 */
const otherwise: Readonly<Record<string, (data: Json) => void>> = {
  '7. Project page data': ({ project }) => {
    project.starCount = 0
    project.userPermissions.createSnippet = false
  },
  '11. Retry a pipeline': (data) => {
    Object.assign(data.pipelineRetry, { errors: ['Pipeline is not retryable'], pipeline: null })
  },
  '14. Start a pipeline and play a manual job': (data) => {
    const errors = ['Pipelines are started elsewhere and recorded here']
    Object.assign(data.pipelineCreate, { errors, pipeline: null })
    Object.assign(data.jobPlay, { errors: ['Job is not playable'], job: null })
  },
  '16. Merge requests waiting for review': ({ currentUser }) => {
    currentUser.reviewRequestedMergeRequests.nodes[0].detailedMergeStatus = 'UNCHECKED'
  },
}

/** Of areas that there are not: what validation says. An area that comes takes its examples out of here. */
const absent: Readonly<Record<string, readonly string[]>> = {
  '19. Create a project snippet with two files': [
    'Unknown type "CreateSnippetInput". Did you mean "CreateIssueInput"?',
    "Field 'createSnippet' doesn't exist on type 'Mutation' (Did you mean `createIssue`?)",
  ],
  '20. Failed snippet update': ["Field 'updateSnippet' doesn't exist on type 'Mutation' (Did you mean `updateIssue`?)"],
  '21. Delete a snippet': ["Field 'destroySnippet' doesn't exist on type 'Mutation'"],
  '22. Snippet flagged as spam, CAPTCHA configured': [
    "Field 'createSnippet' doesn't exist on type 'Mutation' (Did you mean `createIssue`?)",
  ],
  '23. Snippets of an author': ["Field 'snippets' doesn't exist on type 'Query'"],
  '24. Wiki pages': [
    "Field 'wikiPage' doesn't exist on type 'Query'",
    "Field 'wikiPages' doesn't exist on type 'Project'",
  ],
  '25. Wrong kind of GID in a variable': [
    'Unknown type "SnippetID".',
    "Field 'destroySnippet' doesn't exist on type 'Mutation'",
  ],
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
let given: ContractWorld

beforeAll(async () => {
  served = await ServedWorld.start()
  given = await contractWorld(served)
})
afterAll(() => served.close())

const callerOf = ({ caller }: Example): User | undefined => given.callers[caller as keyof ContractWorld['callers']]

/** As it is sent: the document's lines and columns are those of the contract. */
function requestOf({ query, variables }: Example): { query: string; variables: Json } {
  return {
    query: given.translated(query),
    variables: variables === undefined ? undefined : JSON.parse(given.translated(variables)),
  }
}

/** In the order of its keys; cursors are for nobody to read. */
const printed = (data: Json): string =>
  JSON.stringify(data, (key, value) => (key === 'endCursor' && value !== '' ? typeof value : value), 2)

/** 250 in five operations, all that a batch may cost: with anything beside it, it is refused and its score is told. */
const filling = Array(5).fill({
  query: `{ ${Array.from({ length: 50 }, (_, index) => `a${index}: __typename`).join(' ')} }`,
})

async function scoreOf(example: Example): Promise<number> {
  const { body } = await served.send('/api/graphql', callerOf(example), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify([requestOf(example), ...filling]),
  })
  const [, total] = /^Query has complexity of (\d+),/.exec(body[0].errors[0].message) ?? []
  return Number(total) - 250
}

test('there are 25 examples, each with a caller and a score', () => {
  expect(examples.map(({ title }) => Number.parseInt(title, 10))).toEqual(Array.from({ length: 25 }, (_, n) => n + 1))
  for (const example of examples) {
    expect(example.caller).toMatch(/^(alice|mia|nobody)$/)
    expect(example.score).toBeGreaterThan(0)
  }
  const titles = examples.map(({ title }) => title)
  expect(titles).toEqual(expect.arrayContaining([...Object.keys(otherwise), ...Object.keys(absent)]))
})

const examplesOf = (areas: 'there' | 'absent'): Titled[] =>
  examples.flatMap((each) => (Object.hasOwn(absent, each.title) === (areas === 'absent') ? [[each.title, each]] : []))

test.each(examplesOf('there'))('%s', async (title, example) => {
  const { query, variables } = requestOf(example)
  const { status, body } = await served.graphql(query, callerOf(example), variables)
  const expected = JSON.parse(given.translated(example.answer))
  otherwise[title]?.(expected.data)
  expect(body.errors).toEqual(expected.errors)
  expect(printed(body.data)).toBe(printed(expected.data))
  expect(status).toBe(200)
})

test.each(examplesOf('there'))('the score of %s', async (_, example) => {
  expect(await scoreOf(example)).toBe(example.score)
})

test('15, as Developer: no variables, and no error', async () => {
  const { query } = requestOf(examples[14]!)
  const { body } = await served.graphql(query, given.callers.alice)
  expect(body).toEqual({ data: { project: { ciVariables: null, inheritedCiVariables: null } } })
})

test('25, of a mutation that there is: a variable of the wrong kind is told as it says', async () => {
  const ofPipelines = (text: string) =>
    text
      .replaceAll('SnippetID', 'CiPipelineID')
      .replaceAll('destroySnippet', 'pipelineDestroy')
      .replaceAll('instance of Snippet', 'instance of Ci::Pipeline')
  const { query, variables } = requestOf(examples[24]!)
  const { body } = await served.graphql(ofPipelines(query), given.callers.alice, variables)
  expect(body).toEqual(JSON.parse(ofPipelines(given.translated(examples[24]!.answer))))
})

test.each(examplesOf('absent'))('%s is not there', async (title, example) => {
  const { query, variables } = requestOf(example)
  const { status, body } = await served.graphql(query, callerOf(example), variables)
  expect(body).toEqual({ errors: expect.any(Array) })
  expect(body.errors.map(({ message }: Json) => message)).toEqual(absent[title])
  expect(status).toBe(200)
})
