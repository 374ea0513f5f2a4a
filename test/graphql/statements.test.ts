import { createSchema } from '@penstock/graphql'
import {
  type GraphQLCompositeType,
  type GraphQLField,
  getNamedType,
  isCompositeType,
  isLeafType,
  isObjectType,
  isRequiredArgument,
} from 'graphql'
import type { KyselyPlugin } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Population, populate } from './populate.ts'
import { ServedWorld } from './served-world.ts'

/** Counts what is asked of the database outside transactions. */
class Counter implements KyselyPlugin {
  statements = 0

  /** Also asked for each query inside a query, so nothing is counted here. */
  transformQuery({ node }: Parameters<KyselyPlugin['transformQuery']>[0]) {
    return node
  }

  async transformResult({ result }: Parameters<KyselyPlugin['transformResult']>[0]) {
    this.statements += 1
    return result
  }
}

/** A world in which there is so much of everything. */
class Counted {
  readonly served: ServedWorld
  readonly #counter: Counter
  readonly #population: Population

  static async of(size: number): Promise<Counted> {
    const counter = new Counter()
    const served = await ServedWorld.start({ watch: counter })
    const population = await populate(served, { seed: 1, size, exact: true })
    await served.tokenOf(population.people.administrator)
    return new Counted(served, counter, population)
  }

  private constructor(served: ServedWorld, counter: Counter, population: Population) {
    this.served = served
    this.#counter = counter
    this.#population = population
  }

  async ask(document: string) {
    const before = this.#counter.statements
    const { body } = await this.served.graphql(document, this.#population.people.administrator)
    const errors: string[] = (body.errors ?? []).map(({ message }: { message: string }) => message)
    return { statements: this.#counter.statements - before, data: body.data, errors }
  }
}

const FEW = 1
const MANY = 50

let few: Counted
let many: Counted

beforeAll(async () => {
  few = await Counted.of(FEW)
  many = await Counted.of(MANY)
}, 300_000)

afterAll(async () => {
  await few?.served.close()
  await many?.served.close()
})

const schema = createSchema({ serviceName: 'svc', externalUrl: 'https://svc.example.test' } as Parameters<
  typeof createSchema
>[0])

/** Where lists hang from: an object that is asked for, and its type. */
const parents: readonly (readonly [path: readonly string[], type: string])[] = [
  [[], 'Query'],
  [['currentUser'], 'CurrentUser'],
  [['project(fullPath: "ops/public")'], 'Project'],
  [['group(fullPath: "ops")'], 'Group'],
  [['project(fullPath: "ops/public")', 'pipeline(id: "gid://svc/Ci::Pipeline/1001")'], 'Pipeline'],
  [['project(fullPath: "ops/public")', 'mergeRequest(iid: "1")'], 'MergeRequest'],
  [['project(fullPath: "ops/public")', 'issue(iid: "1")'], 'Issue'],
]

/** What is answered only to those who give it, and needs no value of its own here. */
const neededArguments: Readonly<Record<string, string>> = {
  'Query.issues': 'state: opened',
  'Project.issue': 'iid: "1"',
  'Project.mergeRequest': 'iid: "1"',
  'Project.label': 'title: "label 1 of /projects/1"',
  'Pipeline.job': 'name: "job 0"',
}

const fieldsOf = (type: GraphQLCompositeType): GraphQLField<unknown, unknown>[] =>
  'getFields' in type ? Object.values(type.getFields()) : []
const asksNothing = (field: GraphQLField<unknown, unknown>): boolean => !field.args.some(isRequiredArgument)
const canBeAsked = (typeName: string, field: GraphQLField<unknown, unknown>): boolean =>
  asksNothing(field) || neededArguments[`${typeName}.${field.name}`] !== undefined
/** With all that has to be given, and in pages of so many. */
function asked(typeName: string, { name }: GraphQLField<unknown, unknown>, first?: number): string {
  const given = [neededArguments[`${typeName}.${name}`] ?? [], first === undefined ? [] : `first: ${first}`].flat()
  return given.length === 0 ? name : `${name}(${given.join(' ')})`
}
const leavesOf = (type: GraphQLCompositeType): string =>
  [
    '__typename',
    ...fieldsOf(type)
      .filter((each) => isLeafType(getNamedType(each.type)) && asksNothing(each))
      .map(({ name }) => name),
  ].join(' ')

/** The type of a connection's nodes. */
function nodeOf(field: GraphQLField<unknown, unknown>): GraphQLCompositeType | undefined {
  const type = getNamedType(field.type)
  const nodes = isObjectType(type) && type.name.endsWith('Connection') ? type.getFields().nodes : undefined
  return nodes === undefined ? undefined : (getNamedType(nodes.type) as GraphQLCompositeType)
}

/** What one field of a node shows: its own fields, or those of the first nodes of its list. */
function selectionOf(typeName: string, field: GraphQLField<unknown, unknown>): string {
  const type = getNamedType(field.type)
  if (!isCompositeType(type)) return field.name
  const node = nodeOf(field)
  if (node === undefined) return `${asked(typeName, field)} { ${leavesOf(type)} }`
  const count = isObjectType(type) && type.getFields().count !== undefined ? 'count ' : ''
  // Few, because fields below lists are dear; many are those the list hangs from.
  return `${asked(typeName, field, 2)} { ${count}nodes { ${leavesOf(node)} } }`
}

const inside = (path: readonly string[], selection: string): string =>
  path.reduceRight((inner, field) => `{ ${field} ${inner} }`, `{ ${selection} }`)

/** Every list of those parents, with what its nodes show themselves, and with each of the things that hang from a node. */
const lists = parents.flatMap(([path, typeName]) => {
  const type = schema.getType(typeName) as GraphQLCompositeType
  return fieldsOf(type)
    .filter((field) => nodeOf(field) !== undefined && canBeAsked(typeName, field))
    .map((field) => {
      const node = nodeOf(field)!
      const beyond = fieldsOf(node).filter(
        (each) => isCompositeType(getNamedType(each.type)) && canBeAsked(node.name, each),
      )
      const selections = [leavesOf(node), ...beyond.map((each) => selectionOf(node.name, each))]
      return {
        name: `${typeName}.${field.name}`,
        documents: selections.map((selection) =>
          inside(path, `${asked(typeName, field)} { nodes { ${selection} } pageInfo { hasNextPage } }`),
        ),
      }
    })
})

const whole = [
  `{ group(fullPath: "ops") { projects { nodes { fullPath
    issues(first: 5) { nodes { iid author { username } labels { nodes { title } } milestone { title } } } } } } }`,
  `{ group(fullPath: "ops") { projects { nodes { pipelines(first: 5) { nodes { id status
    stages { nodes { name status } } } } } } } }`,
  `{ project(fullPath: "ops/public") { mergeRequests { nodes { iid author { username } assignees { nodes { username } }
    reviewers { nodes { username } } labels { nodes { title } } milestone { title } headPipeline { status } } } } }`,
  `{ projects { nodes { fullPath namespace { fullPath } group { name } labels(first: 3) { count nodes { title } }
    milestones(first: 3) { nodes { title } } projectMembers(first: 3) { nodes { user { username } } } } } }`,
  `{ users { nodes { username groups(first: 3) { nodes { fullPath } } projectMemberships(first: 3) { nodes { project { name } } } } } }`,
]

test('there are lists to ask for', () => {
  expect(lists.length).toBeGreaterThan(20)
})

describe(`statements do not grow with rows: as many for ${MANY} as for ${FEW}`, () => {
  test.each(lists)('$name', async ({ documents }) => {
    const growing: string[] = []
    for (const document of documents) growing.push(...(await growthOf(document)))
    expect(growing).toEqual([])
  })

  test.each(whole)('%s', async (document) => {
    expect(await growthOf(document)).toEqual([])
  })
})

/** Two hundred lists are read by one statement, and these are four for each project. */
const LISTS_OF_MANY = 'pipelineCounts {'

/** In words; of a document that costs the same, none. */
async function growthOf(document: string): Promise<string[]> {
  const [ofFew, ofMany] = [await few.ask(document), await many.ask(document)]
  // What may be asked for one parent alone is not asked for more at all.
  const refusals = ofMany.errors.filter((message) => /can be requested only for 1/.test(message))
  const errors = [...ofFew.errors, ...ofMany.errors].filter((message) => !refusals.includes(message))
  if (errors.length > 0) return [`${errors[0]}: ${document}`]
  const more = ofMany.statements - ofFew.statements
  const isSame = more === 0 || (refusals.length > 0 && more < 0) || (more === 1 && document.includes(LISTS_OF_MANY))
  return isSame ? [] : [`${ofFew.statements} became ${ofMany.statements}: ${document}`]
}
