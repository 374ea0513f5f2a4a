import { createSchema } from '@penstock/graphql'
import {
  type FieldNode,
  type GraphQLCompositeType,
  type GraphQLField,
  type GraphQLObjectType,
  getNamedType,
  isCompositeType,
  isLeafType,
  isObjectType,
  isRequiredArgument,
  type OperationDefinitionNode,
  parse,
  type SelectionSetNode,
} from 'graphql'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Population, populate } from './populate.ts'
import { type Json, ServedWorld } from './served-world.ts'

/** A world in which there is so much of everything. */
class Counted {
  readonly served: ServedWorld
  readonly #population: Population

  static async of(size: number): Promise<Counted> {
    const served = await ServedWorld.start()
    const population = await populate(served, { seed: 1, size, exact: true })
    await served.tokenOf(population.people.administrator)
    return new Counted(served, population)
  }

  private constructor(served: ServedWorld, population: Population) {
    this.served = served
    this.#population = population
  }

  async ask(document: string) {
    let body: Json
    const statements = await this.served.world.statements(async () => {
      ;({ body } = await this.served.graphql(document, this.#population.people.administrator))
    })
    const errors: string[] = (body.errors ?? []).map(({ message }: { message: string }) => message)
    return { statements, things: thingsIn(document, body.data), errors }
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

const schema = createSchema({ serviceName: 'svc', externalUrl: 'https://svc.example.test' })

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

/** Of what there is nothing for anyone, or no more where there is more of all else. By its field, or by its place. */
const emptyByNature: Readonly<Record<string, string>> = {
  'Query.ciVariables': 'the service has none of its own',
  'Issue.relatedMergeRequests': 'nobody notes what an issue has to do with one',
  'Issue.updatedBy': 'nobody notes who changed one',
  'Issue.movedTo': 'issues stay where they are',
  'Issue.closedAsDuplicateOf': 'nobody notes duplicates',
  'project.issue.assignees': 'an issue has one',
  'project.mergeRequest.assignees': 'a merge request has one',
  'MergeRequest.approvedBy': 'nobody approves',
  'MergeRequest.mergeUser': 'nobody merges',
  'group.milestones.project': 'a group lists its own',
  'project.milestones.group': 'a project lists its own',
  'Project.forkedFrom': 'nobody forks',
  'Pipeline.mergeRequest': 'pipelines are of branches',
  'Pipeline.errorMessages': 'none are told',
  'Pipeline.warningMessages': 'none are told',
  'Pipeline.manualVariables': 'not kept: they may hold secrets',
  'CiJob.manualVariables': 'not kept: they may hold secrets',
  'CiJob.needs': 'none are told',
  'CiJob.trace': 'logs are not kept',
  'CiJobInterface.trace': 'logs are not kept',
  'UserCore.status': 'nobody can set one',
  'MergeRequestReviewer.status': 'nobody can set one',
  'MergeRequestAssignee.status': 'nobody can set one',
  'MergeRequestParticipant.status': 'nobody can set one',
}
const excused = new Set<string>()

test('there are lists to ask for', () => {
  expect(lists.length).toBeGreaterThan(20)
})

describe(`statements do not grow with rows: as many for ${MANY} as for ${FEW}`, () => {
  test.each(lists)('$name', async ({ documents }) => {
    const flaws: string[] = []
    for (const document of documents) flaws.push(...(await validateDocument(document)))
    expect(flaws).toEqual([])
  })

  test.each(whole)('%s', async (document) => {
    expect(await validateDocument(document)).toEqual([])
  })
})

test('what is said to be empty by nature is so', () => {
  expect([...excused].sort()).toEqual(Object.keys(emptyByNature).sort())
})

/** In words; of a document that costs the same for more, none. */
async function validateDocument(document: string): Promise<string[]> {
  const [ofFew, ofMany] = [await few.ask(document), await many.ask(document)]
  // What may be asked for one parent alone is not asked for more at all.
  const refusals = ofMany.errors.filter((message) => /can be requested only for 1/.test(message))
  const errors = [...ofFew.errors, ...ofMany.errors].filter((message) => !refusals.includes(message))
  if (errors.length > 0) return [`${errors[0]}: ${document}`]
  const more = ofMany.statements - ofFew.statements
  const isSame = more === 0 || (refusals.length > 0 && more < 0)
  return [
    ...(isSame ? [] : [`${ofFew.statements} became ${ofMany.statements}: ${document}`]),
    ...(refusals.length > 0 ? [] : notMore(ofFew.things, ofMany.things).map((flaw) => `${flaw}: ${document}`)),
  ]
}

/** The things of an answer: how many there are at each of its places, and of which field they are. */
type Things = Map<string, { readonly count: number; readonly field: string }>

function thingsIn(document: string, data: Json): Things {
  const things: Things = new Map()
  const look = (from: Json, { selections }: SelectionSetNode, type: GraphQLObjectType, at: string, above: string) => {
    for (const { name, selectionSet } of selections as readonly FieldNode[]) {
      if (selectionSet === undefined) continue
      const place = `${at}.${name.value}`
      const field = name.value === 'nodes' ? above : `${type.name}.${name.value}`
      const found = [from[name.value]].flat().filter((each) => each != null)
      const known = things.get(place) ?? { count: 0, field }
      things.set(place, { field, count: known.count + found.length })
      const inner = getNamedType(type.getFields()[name.value]!.type) as GraphQLObjectType
      for (const each of found) look(each, selectionSet, inner, place, field)
    }
  }
  const { selectionSet } = parse(document).definitions[0] as OperationDefinitionNode
  look(data, selectionSet, schema.getQueryType()!, '', '')
  return things
}

/**
 * Places at which there is nothing, or no more of it although it belongs to a list: how many statements that takes would say
 * nothing.
 */
function notMore(ofFew: Things, ofMany: Things): string[] {
  const alike: string[] = []
  return [...ofMany].flatMap(([place, { count, field }]) => {
    const before = ofFew.get(place)?.count ?? 0
    const grows = place.includes('.nodes') && !alike.some((above) => place.startsWith(above))
    if (before > 0 && count >= before + (grows ? 1 : 0)) return []
    const name = [place.replaceAll('.nodes', '').slice(1), field].find((each) => emptyByNature[each] !== undefined)
    if (name === undefined) return [`${before} became ${count} at ${place} (${field})`]
    excused.add(name)
    alike.push(`${place}.`)
    return []
  })
}
