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

/** A world with the given number of objects of every kind. */
class CountedWorld {
  readonly served: ServedWorld
  readonly #population: Population

  static async of(size: number): Promise<CountedWorld> {
    const served = await ServedWorld.start()
    const population = await populate(served, { seed: 1, size, exact: true })
    await served.tokenOf(population.people.administrator)
    return new CountedWorld(served, population)
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
    return { statements, objects: objectsIn(document, body.data), errors }
  }
}

const FEW = 1
const MANY = 20

let few: CountedWorld
let many: CountedWorld

beforeAll(async () => {
  few = await CountedWorld.of(FEW)
  many = await CountedWorld.of(MANY)
}, 300_000)

afterAll(async () => {
  await few?.served.close()
  await many?.served.close()
})

const schema = createSchema({ serviceName: 'svc', externalUrl: 'https://svc.example.test' })

/** The objects with the lists to test: the fields that select each object, and its type. */
const parents: readonly (readonly [path: readonly string[], type: string])[] = [
  [[], 'Query'],
  [['currentUser'], 'CurrentUser'],
  [['project(fullPath: "ops/public")'], 'Project'],
  [['group(fullPath: "ops")'], 'Group'],
  [['project(fullPath: "ops/public")', 'pipeline(id: "gid://svc/Ci::Pipeline/1001")'], 'Pipeline'],
  [['project(fullPath: "ops/public")', 'mergeRequest(iid: "1")'], 'MergeRequest'],
  [['project(fullPath: "ops/public")', 'issue(iid: "1")'], 'Issue'],
]

/** The arguments of fields that need one. */
const neededArguments: Readonly<Record<string, string>> = {
  'Query.issues': 'state: opened',
  'Project.issue': 'iid: "1"',
  'Project.mergeRequest': 'iid: "1"',
  'Project.label': 'title: "label 1 of /projects/1"',
  'Pipeline.job': 'name: "job 0"',
}

const fieldsOf = (type: GraphQLCompositeType): GraphQLField<unknown, unknown>[] =>
  'getFields' in type ? Object.values(type.getFields()) : []
const hasNoRequiredArguments = (field: GraphQLField<unknown, unknown>): boolean => !field.args.some(isRequiredArgument)
const canBeSelected = (typeName: string, field: GraphQLField<unknown, unknown>): boolean =>
  hasNoRequiredArguments(field) || neededArguments[`${typeName}.${field.name}`] !== undefined
/** Returns a field with its needed arguments and its page size. */
function fieldWithArguments(typeName: string, { name }: GraphQLField<unknown, unknown>, first?: number): string {
  const args = [neededArguments[`${typeName}.${name}`] ?? [], first === undefined ? [] : `first: ${first}`].flat()
  return args.length === 0 ? name : `${name}(${args.join(' ')})`
}
const leavesOf = (type: GraphQLCompositeType): string =>
  [
    '__typename',
    ...fieldsOf(type)
      .filter((each) => isLeafType(getNamedType(each.type)) && hasNoRequiredArguments(each))
      .map(({ name }) => name),
  ].join(' ')

/** Returns the type of a connection's nodes; `undefined` if the field is not a connection. */
function nodeOf(field: GraphQLField<unknown, unknown>): GraphQLCompositeType | undefined {
  const type = getNamedType(field.type)
  const nodes = isObjectType(type) && type.name.endsWith('Connection') ? type.getFields().nodes : undefined
  return nodes === undefined ? undefined : (getNamedType(nodes.type) as GraphQLCompositeType)
}

/** Returns a field of a node with its leaf fields, or those of the first nodes if it is a list. */
function selectionOf(typeName: string, field: GraphQLField<unknown, unknown>): string {
  const type = getNamedType(field.type)
  if (!isCompositeType(type)) return field.name
  const node = nodeOf(field)
  if (node === undefined) return `${fieldWithArguments(typeName, field)} { ${leavesOf(type)} }`
  const count = isObjectType(type) && type.getFields().count !== undefined ? 'count ' : ''
  // A small page, because fields below lists have a high complexity.
  return `${fieldWithArguments(typeName, field, 2)} { ${count}nodes { ${leavesOf(node)} } }`
}

const inside = (path: readonly string[], selection: string): string =>
  path.reduceRight((inner, field) => `{ ${field} ${inner} }`, `{ ${selection} }`)

/** A set of documents for every list: one with the leaf fields of its nodes, and one for each of their objects and lists. */
const lists = parents.flatMap(([path, typeName]) => {
  const type = schema.getType(typeName) as GraphQLCompositeType
  return fieldsOf(type)
    .filter((field) => nodeOf(field) !== undefined && canBeSelected(typeName, field))
    .map((field) => {
      const node = nodeOf(field)!
      const composite = fieldsOf(node).filter(
        (each) => isCompositeType(getNamedType(each.type)) && canBeSelected(node.name, each),
      )
      const selections = [leavesOf(node), ...composite.map((each) => selectionOf(node.name, each))]
      return {
        name: `${typeName}.${field.name}`,
        documents: selections.map((selection) =>
          inside(path, `${fieldWithArguments(typeName, field)} { nodes { ${selection} } pageInfo { hasNextPage } }`),
        ),
      }
    })
})

const realisticDocuments = [
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

/** The fields and places that are empty, or have as many objects in both worlds, each with the reason. */
const notGrowing: Readonly<Record<string, string>> = {
  'Query.ciVariables': 'this service has none',
  'Issue.relatedMergeRequests': 'not recorded',
  'Issue.updatedBy': 'not recorded',
  'Issue.movedTo': 'issues cannot be moved',
  'Issue.closedAsDuplicateOf': 'not recorded',
  'project.issue.assignees': 'an issue has at most one',
  'project.mergeRequest.assignees': 'a merge request has at most one',
  'MergeRequest.approvedBy': 'nothing is approved here',
  'MergeRequest.mergeUser': 'merge requests cannot be merged',
  'group.milestones.project': 'lists milestones of the group only',
  'project.milestones.group': 'lists milestones of the project only',
  'Project.forkedFrom': 'projects cannot be forked',
  'Project.visibleForks': 'projects cannot be forked',
  'Project.languages': 'the files have none',
  'Milestone.releases': 'there are no releases',
  'CiJob.inputsSpec': 'not recorded',
  'Pipeline.mergeRequest': 'pipelines belong to branches',
  'Pipeline.errorMessages': 'not recorded',
  'Pipeline.warningMessages': 'not recorded',
  'Pipeline.manualVariables': 'not recorded, because they may be secret',
  'CiJob.manualVariables': 'not recorded, because they may be secret',
  'CiJob.needs': 'not recorded',
  'CiJob.trace': 'logs are not recorded',
  'CiJobInterface.trace': 'logs are not recorded',
  'UserCore.status': 'this service has no user statuses',
  'MergeRequestReviewer.status': 'this service has no user statuses',
  'MergeRequestAssignee.status': 'this service has no user statuses',
  'MergeRequestParticipant.status': 'this service has no user statuses',
}
const excludedPlaces = new Set<string>()

test('finds the lists of the schema', () => {
  expect(lists.length).toBeGreaterThan(20)
})

describe(`needs as many statements for ${MANY} rows as for ${FEW}`, () => {
  test.each(lists)('$name', async ({ documents }) => {
    const problems: string[] = []
    for (const document of documents) problems.push(...(await problemsOf(document)))
    expect(problems).toEqual([])
  })

  test.each(realisticDocuments)('%s', async (document) => {
    expect(await problemsOf(document)).toEqual([])
  })
})

test('excludes only places that do not grow', () => {
  expect([...excludedPlaces].sort()).toEqual(Object.keys(notGrowing).sort())
})

/** Compares the statements of a document in both worlds. Returns a description of each problem. */
async function problemsOf(document: string): Promise<string[]> {
  const [ofFew, ofMany] = [await few.ask(document), await many.ask(document)]
  // Some fields can be selected for one parent only, so they are rejected in the larger world.
  const rejections = ofMany.errors.filter((message) => /can be requested only for 1/.test(message))
  const errors = [...ofFew.errors, ...ofMany.errors].filter((message) => !rejections.includes(message))
  if (errors.length > 0) return [`${errors[0]}: ${document}`]
  const more = ofMany.statements - ofFew.statements
  const isSame = more === 0 || (rejections.length > 0 && more < 0)
  return [
    ...(isSame ? [] : [`${ofFew.statements} became ${ofMany.statements}: ${document}`]),
    ...(rejections.length > 0
      ? []
      : placesThatDoNotGrow(ofFew.objects, ofMany.objects).map((problem) => `${problem}: ${document}`)),
  ]
}

/** The objects in a response: their number and their field, by place. */
type ObjectCounts = Map<string, { readonly count: number; readonly field: string }>

function objectsIn(document: string, data: Json): ObjectCounts {
  const objects: ObjectCounts = new Map()
  const visit = (from: Json, { selections }: SelectionSetNode, type: GraphQLObjectType, at: string, above: string) => {
    for (const { name, selectionSet } of selections as readonly FieldNode[]) {
      if (selectionSet === undefined) continue
      const place = `${at}.${name.value}`
      const field = name.value === 'nodes' ? above : `${type.name}.${name.value}`
      const found = [from[name.value]].flat().filter((each) => each != null)
      const known = objects.get(place) ?? { count: 0, field }
      objects.set(place, { field, count: known.count + found.length })
      const inner = getNamedType(type.getFields()[name.value]!.type) as GraphQLObjectType
      for (const each of found) visit(each, selectionSet, inner, place, field)
    }
  }
  const { selectionSet } = parse(document).definitions[0] as OperationDefinitionNode
  visit(data, selectionSet, schema.getQueryType()!, '', '')
  return objects
}

/**
 * Returns the places that are empty, or that do not grow although they belong to a list. For these, equal numbers of statements
 * would prove nothing.
 */
function placesThatDoNotGrow(ofFew: ObjectCounts, ofMany: ObjectCounts): string[] {
  const ignoredPrefixes: string[] = []
  return [...ofMany].flatMap(([place, { count, field }]) => {
    const before = ofFew.get(place)?.count ?? 0
    const grows = place.includes('.nodes') && !ignoredPrefixes.some((above) => place.startsWith(above))
    if (before > 0 && count >= before + (grows ? 1 : 0)) return []
    const name = [place.replaceAll('.nodes', '').slice(1), field].find((each) => notGrowing[each] !== undefined)
    if (name === undefined) return [`${before} became ${count} at ${place} (${field})`]
    excludedPlaces.add(name)
    ignoredPrefixes.push(`${place}.`)
    return []
  })
}
