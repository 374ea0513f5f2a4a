import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type DocumentNode, type FragmentDefinitionNode, Kind, parse, print, visit } from 'graphql'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type OperationsWorld, operationsWorld } from './operations-world.ts'
import { type Json, ServedWorld } from './served-world.ts'

/** At least this share of the listed operations has to run. */
const SHARE_THAT_RUNS = 0.85
const DIRECTORY = join(import.meta.dirname, 'operations')

interface Operation {
  readonly name: string
  readonly source: string
  readonly caller: string
  /** JSON with placeholders such as `{{sha}}`. */
  readonly variables: string
  /** The path of a value in the answer that is not null. */
  readonly shows: string
  /** `runs`, or a part of the error message. */
  readonly result: string
}

const operations = readFileSync(join(DIRECTORY, 'operations.md'), 'utf8')
  .split('## The list\n')[1]!
  .split('\n')
  .filter((line) => line.startsWith('|'))
  .slice(2)
  .map((line): Operation => {
    const cells = line.split(' | ').map((cell) => cell.replace(/^\| | \|$/g, '').trim())
    const [name, source, caller, variables, shows, result] = cells as [string, string, string, string, string, string]
    return { name, source, caller, variables: variables.replace(/^`|`$/g, '') || '{}', shows, result }
  })

const definitions = readdirSync(DIRECTORY)
  .filter((file) => file.endsWith('.graphql'))
  .flatMap((file) => parse(readFileSync(join(DIRECTORY, file), 'utf8')).definitions)
const fragments = new Map(
  definitions.filter((each) => each.kind === Kind.FRAGMENT_DEFINITION).map((each) => [each.name.value, each]),
)
const documents = new Map(
  definitions
    .filter((each) => each.kind === Kind.OPERATION_DEFINITION)
    .map((each) => [each.name!.value, { kind: Kind.DOCUMENT, definitions: [each, ...fragmentsIn(each)] }] as const),
)

/** Returns the fragments that the operation or fragment uses, also through other fragments. */
function fragmentsIn(
  node: DocumentNode['definitions'][number],
  found = new Set<FragmentDefinitionNode>(),
): Set<FragmentDefinitionNode> {
  visit(node, {
    FragmentSpread({ name }) {
      const fragment = fragments.get(name.value)!
      if (found.has(fragment)) return
      found.add(fragment)
      fragmentsIn(fragment, found)
    },
  })
  return found
}

let served: ServedWorld
let world: OperationsWorld

beforeAll(async () => {
  served = await ServedWorld.start()
  world = await operationsWorld(served)
})
afterAll(() => served.close())

async function answerTo({ name, variables, caller }: Operation): Promise<Json> {
  const filled = variables.replace(/\{\{(\w+)\}\}/g, (_, key: string) => world.values[key]!)
  return (await served.graphql(print(documents.get(name)!), world.callers[caller]!, JSON.parse(filled))).body
}

const valueAt = (data: Json, path: string): unknown => path.split('.').reduce((value, key) => value?.[key], data)

const errorsOfMutations = (data: Json): unknown[] =>
  Object.values<Json>(data).flatMap((payload) => payload?.errors ?? [])

test('lists every operation once, with its source and what it shows', () => {
  expect(operations.map(({ name }) => name).sort()).toEqual([...documents.keys()].sort())
  expect(operations.filter(({ source, shows }) => source === '' || shows === '')).toEqual([])
  expect(operations.length).toBeGreaterThanOrEqual(140)
})

test('runs at least 85 % of the operations', () => {
  const run = operations.filter(({ result }) => result === 'runs')
  expect(run.length / operations.length).toBeGreaterThanOrEqual(SHARE_THAT_RUNS)
})

// A mutation changes what the operations after it find, so queries run first.
const isMutation = ({ name }: Operation) => JSON.stringify(documents.get(name)).includes('"operation":"mutation"')
const inOrder = [...operations.filter((each) => !isMutation(each)), ...operations.filter(isMutation)]

test.each(inOrder.map((each) => [each.name, each] as const))('%s', async (_name, operation) => {
  const { data, errors } = await answerTo(operation)
  if (operation.result !== 'runs') {
    const reasons = [...(errors ?? []).map(({ message }: Json) => message), ...errorsOfMutations(data ?? {})]
    expect(reasons.join('\n')).toContain(operation.result)
    return
  }
  expect(errors).toBeUndefined()
  expect(errorsOfMutations(data)).toEqual([])
  expect([operation.shows, valueAt(data, operation.shows)]).not.toEqual([operation.shows, null])
  expect(valueAt(data, operation.shows)).toBeDefined()
})
