import type { Core, User } from '@penstock/core'
import { createSchema } from '@penstock/graphql'
import { areas } from '@penstock/rest'
import Sqlite from 'better-sqlite3'
import { type GraphQLObjectType, getNamedType, isObjectType } from 'graphql'
import type { CompiledQuery, KyselyPlugin, RootOperationNode } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { SearchBudget } from '../../packages/db/src/search/search-budget.ts'
import { addSearchFunctions } from '../../packages/db/src/search/search-functions.ts'
import { searchLane } from '../../packages/db/src/search/text-condition.ts'
import { ServedWorld } from './served-world.ts'

const TERM = 'findable needle'
/** The names of parameters and arguments that search texts. */
const searching = /^(?:search|searchTitle|searchTerm)$/

/** Lists of projects or owners without an index for the texts, which are names of at most 255 characters. */
const scanningLists = [
  'listEnvironments',
  'listUserLists',
  'listPersonalTokens',
  'listProjectTokens',
  'listGroupTokens',
]

let served: ServedWorld
let root: User
/** The statements that searched since the last request, as they were sent to the database. */
let searches: CompiledQuery[] = []
/** The subscribers of the searches, because several clients take turns. */
const subscribers = new Set<string | undefined>()

beforeAll(async () => {
  served = await ServedWorld.start()
  root = await served.world.user('root', { isAdministrator: true })
  recordSearches()
  const post = (path: string, body: object) => served.must('POST', path, root, body)
  await post('/groups', { name: 'Ops', path: 'ops', visibility: 'public' })
  await post('/projects', { name: 'Public', path: 'public', namespace_id: 1, visibility: 'public' })
  await addTexts(TERM, 1)
}, 120_000)

afterAll(() => served?.close())

/** Adds objects of every kind that lists search, with the text in their names and descriptions. */
async function addTexts(text: string, count: number): Promise<void> {
  const post = (path: string, body: object) => served.must('POST', path, root, body)
  const description = `A description with the ${text} in it. ${'Filler. '.repeat(100)}`
  for (let index = 0; index < count; index += 1) {
    const name = `${text} ${index}`
    const slug = name.toLowerCase().replaceAll(' ', '-')
    await post('/projects/1/issues', { title: name, description })
    await post('/projects/1/labels', { name: `project ${name}`, color: '#123456', description })
    await post('/projects/1/milestones', { title: `project ${name}`, description })
    await post('/groups/1/labels', { name, color: '#123456', description })
    await post('/groups/1/milestones', { title: name, description })
    await post('/groups', { name, path: slug, parent_id: 1, visibility: 'public' })
    await post('/projects', { name, path: `project-${slug}`, namespace_id: 1, visibility: 'public', description })
    const sourceBranch = `branch-${slug}`
    const draft = { project: 1, sourceBranch, targetBranch: 'main', title: name, description }
    const { iid } = await served.world.mergeRequest(root, draft)
    await served.must('PUT', `/projects/1/merge_requests/${iid}`, root, {
      assignee_id: root.id,
      reviewer_ids: [root.id],
    })
    const user = await served.world.user(slug)
    await served.must('PUT', `/users/${user.id}`, root, { name })
    await post('/projects/1/members', { user_id: user.id, access_level: 30 })
    await post('/groups/1/members', { user_id: user.id, access_level: 30 })
    await post('/projects', { name, path: `own-${slug}`, description })
  }
}

/** Replaces the handles for reading by ones that record the statements that search. */
function recordSearches(): void {
  const db = served.world.core.db as { -readonly [Key in keyof Core['db']]: Core['db'][Key] }
  const { read, readWithin } = db
  const executor = read.getExecutor()
  const nodes = new WeakMap<object, RootOperationNode>()
  const recorder = (subscriber: string | undefined): KyselyPlugin => ({
    transformQuery({ node, queryId }) {
      nodes.set(queryId, node)
      return node
    },
    async transformResult({ result, queryId }) {
      const query = executor.compileQuery(nodes.get(queryId)!, queryId)
      if (searchLane(query.sql) === undefined) return result
      searches.push(query)
      subscribers.add(subscriber)
      return result
    },
  })
  db.read = read.withPlugin(recorder(undefined))
  db.readWithin = (limit, subscriber) => readWithin(limit, subscriber).withPlugin(recorder(subscriber))
}

/** Returns the statements with searches that `work` sends. */
async function recordedSearches(work: () => Promise<unknown>): Promise<readonly CompiledQuery[]> {
  searches = []
  await work()
  return searches
}

/** Runs statements, and returns the number of rows with texts that they compare. */
function comparedBy(queries: readonly CompiledQuery[]): number {
  let compared = 0
  class Counter extends SearchBudget {
    override check(): void {
      compared += 1
    }
  }
  const database = new Sqlite(served.world.location, { readonly: true })
  try {
    addSearchFunctions(database, new Counter(0))
    for (const { sql, parameters } of queries) database.prepare(sql).all(parameters)
    return compared
  } finally {
    database.close()
  }
}

/** Returns the steps of statements in which SQLite would read every row of a table that has an index of texts. */
function scansIn(queries: readonly CompiledQuery[]): string[] {
  const database = new Sqlite(served.world.location, { readonly: true })
  try {
    addSearchFunctions(database)
    const steps = queries.flatMap(({ sql, parameters }) =>
      database.prepare(`explain query plan ${sql}`).all(parameters),
    ) as { detail: string }[]
    return steps.map(({ detail }) => detail).filter((detail) => scanned.test(detail))
  } finally {
    database.close()
  }
}

const scanned = /^SCAN (?:issues|merge_requests|milestones|labels|projects|groups|users)\b/

/** Lists in which the scope, not the search, reads every row. */
const scopesThatScan: Readonly<Record<string, readonly string[]>> = { 'Group.labels(searchTerm)': ['SCAN projects'] }

interface SearchingList {
  readonly name: string
  readonly isScanning: boolean
  readonly ask: (term: string) => Promise<unknown>
}

const restLists = (): SearchingList[] =>
  areas
    .flatMap(({ routes }) => routes)
    .filter(({ method }) => method === 'GET')
    .flatMap(({ operation, path }) =>
      Object.keys((operation.input as { shape?: object }).shape ?? {})
        .filter((key) => searching.test(key))
        .map((key): SearchingList => {
          const parameter = key === 'searchTitle' ? 'search_title' : key
          const url = path.replaceAll(/:\w+/g, '1')
          return {
            name: `GET ${path} (${parameter})`,
            isScanning: scanningLists.includes(operation.name),
            ask: (term) => served.must('GET', `${url}?scope=all&${parameter}=${encodeURIComponent(term)}`, root),
          }
        }),
    )

const schema = createSchema({ serviceName: 'svc', externalUrl: 'https://svc.example.test' })

/** The objects with lists that search, by their type. */
const parents: Readonly<Record<string, readonly string[]>> = {
  Query: [],
  CurrentUser: ['currentUser'],
  Project: ['project(fullPath: "ops/public")'],
  Group: ['group(fullPath: "ops")'],
  Namespace: ['namespace(fullPath: "ops")'],
}

/** The arguments of fields that need one besides the search. */
const neededArguments: Readonly<Record<string, string>> = { 'Query.issues': 'state: opened' }

const graphqlLists = (): SearchingList[] =>
  Object.entries(parents).flatMap(([typeName, path]) =>
    Object.values((schema.getType(typeName) as GraphQLObjectType).getFields()).flatMap((field) =>
      field.args.flatMap(({ name }): SearchingList[] => {
        if (!searching.test(name)) return []
        const type = getNamedType(field.type)
        const isConnection = isObjectType(type) && type.getFields().nodes !== undefined
        const others = `${neededArguments[`${typeName}.${field.name}`] ?? ''} ${isConnection ? 'first: 5' : ''}`
        const selection = isConnection ? '{ nodes { __typename } pageInfo { hasNextPage } }' : '{ __typename }'
        return [
          {
            name: `${typeName}.${field.name}(${name})`,
            isScanning: false,
            async ask(term) {
              const asked = `${field.name}(${name}: ${JSON.stringify(term)} ${others}) ${selection}`
              const document = path.reduceRight((inner, parent) => `${parent} { ${inner} }`, asked)
              const { body } = await served.graphql(`{ ${document} }`, root)
              if (body.errors !== undefined) throw new Error(JSON.stringify(body.errors))
            },
          },
        ]
      }),
    ),
  )

test('every REST list and GraphQL field that searches compares only the texts that its index finds', async () => {
  const lists = [...restLists(), ...graphqlLists()]
  expect(lists.length).toBeGreaterThan(40)
  subscribers.clear()
  const unsearched: string[] = []
  const scans: { readonly name: string; readonly queries: readonly CompiledQuery[] }[] = []
  const measured: { readonly name: string; readonly queries: readonly CompiledQuery[]; readonly compared: number }[] =
    []
  for (const { name, isScanning, ask } of lists) {
    const queries = await recordedSearches(() => ask(TERM))
    if (queries.length === 0) unsearched.push(name)
    const lanes = new Set(queries.map((query) => searchLane(query.sql)))
    if (isScanning) {
      expect([name, [...lanes]]).toEqual([name, ['scanning']])
      continue
    }
    if (queries.length === 0) continue
    expect([name, [...lanes]]).toEqual([name, ['indexed']])
    const compared = comparedBy(queries)
    measured.push({ name, queries, compared })
    expect([name, scansIn(queries)]).toEqual([name, scopesThatScan[name] ?? []])
    // A longer term compares as many texts, or fewer.
    const longer = await recordedSearches(() => ask(`${TERM} ${'0 '.repeat(5)}${TERM}`))
    expect([name, comparedBy(longer) <= compared]).toEqual([name, true])
    // Terms that the index cannot find are read outside the event loop too.
    const short = await recordedSearches(() => ask('ne'))
    expect([name, short.map((query) => searchLane(query.sql))]).toEqual([name, short.map(() => 'scanning')])
    scans.push({ name, queries: short })
  }
  // Each search has its client, so that those of others do not wait for all searches of one.
  expect([...subscribers]).toEqual(['127.0.0.1'])
  // No project is shared with a group, and names of branches and tags are not in the database.
  expect(unsearched).toEqual([
    'GET /groups/:id/projects/shared (search)',
    'GET /projects/:id/repository/branches (search)',
    'GET /projects/:id/repository/tags (search)',
  ])
  await addTexts('other text', 3)
  expect(measured.map(({ name, queries }) => [name, comparedBy(queries)])).toEqual(
    measured.map(({ name, compared }) => [name, compared]),
  )
  expect(measured.filter(({ compared }) => compared === 0).map(({ name }) => name)).toEqual([])
  // The lists of a project compare no texts of another project, although these match.
  const ofProject = [...measured, ...scans].filter(({ name }) => /^(?:GET \/projects\/:id\/|Project\.)/.test(name))
  const before = ofProject.map(({ name, queries }) => [name, comparedBy(queries)])
  const { id } = await served.must('POST', '/projects', root, { name: 'Other', path: 'other' })
  const object = { title: TERM, description: TERM }
  await served.must('POST', `/projects/${id}/issues`, root, object)
  await served.must('POST', `/projects/${id}/milestones`, root, object)
  await served.must('POST', `/projects/${id}/labels`, root, { name: TERM, color: '#123456', description: TERM })
  await served.world.mergeRequest(root, { project: id, sourceBranch: 'mine', targetBranch: 'main', ...object })
  expect(ofProject.map(({ name, queries }) => [name, comparedBy(queries)])).toEqual(before)
})

test('every REST list and GraphQL field that searches refuses a text of more than 255 characters', async () => {
  const outcomes: unknown[] = []
  for (const { name, ask } of [...restLists(), ...graphqlLists()]) {
    const outcome = await ask('x'.repeat(256)).then(() => 'accepted', String)
    if (!/too long/.test(outcome)) outcomes.push([name, outcome.slice(0, 200)])
  }
  expect(outcomes).toEqual([])
})
