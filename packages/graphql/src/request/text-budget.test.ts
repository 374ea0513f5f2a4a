import {
  accessLevels,
  createCommit,
  createIssue,
  type Project,
  projectLabels,
  projectMilestones,
  type User,
} from '@penstock/core'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { GraphqlServer } from '../http/graphql-server.harness.ts'

let server: GraphqlServer
let alice: User
let app: Project

beforeEach(async () => {
  server = await GraphqlServer.start({ maxTextBytes: 30 })
  const { world } = server
  alice = await world.user('alice')
  app = await world.project('app', await world.group('web'))
  await world.member(app, alice, accessLevels.maintainer)
})
afterEach(() => server.close())

const TEN = '- [x] done'
const limitMessage = 'The descriptions and commit messages of one request may be at most 30 bytes together'

async function issues(...descriptions: (string | undefined)[]): Promise<void> {
  for (const description of descriptions) {
    await server.world.perform(alice, createIssue, { project: app.id, title: 'A', description })
  }
}
const mergeRequest = (sourceBranch: string, description: string) => {
  const draft = { project: app.id, title: 'B', sourceBranch, targetBranch: 'main', description }
  return server.world.mergeRequest(alice, draft)
}
const inApp = async (fields: string) => {
  const { status, body } = await server.ask(`{ project(fullPath: "web/app") { ${fields} } }`, { as: alice })
  expect(status).toBe(200)
  return body
}
const listed = (fields: string) => `issues(sort: CREATED_ASC) { nodes { ${fields} } }`
const nodesWith = (...texts: (string | null)[]) => texts.map((description) => ({ description }))

test('returns descriptions that are within the limit together', async () => {
  await issues(TEN, undefined, TEN, TEN)
  const { data, errors } = await inApp(listed('description'))
  expect(errors).toBeUndefined()
  expect(data.project.issues.nodes).toEqual(nodesWith(TEN, null, TEN, TEN))
})

test('returns the first descriptions up to the limit, and one error for the others', async () => {
  await issues(TEN, TEN, TEN, TEN, 'short', undefined)
  const { data, errors } = await inApp(listed('title description'))
  expect(data.project.issues.nodes).toMatchObject(nodesWith(TEN, TEN, TEN, null, null, null))
  expect(data.project.issues.nodes[5].title).toBe('A')
  expect(errors).toMatchObject([{ message: limitMessage, path: ['project', 'issues', 'nodes', 3, 'description'] }])
  expect(errors).toHaveLength(1)
})

test('counts every alias, and descriptions of all kinds of objects', async () => {
  await issues(TEN)
  await mergeRequest('retry', TEN)
  const { data, errors } = await inApp(
    `issue(iid: "1") { a: description } issues { nodes { b: description } }
    mergeRequests { nodes { c: description d: descriptionHtml } }`,
  )
  expect(data.project).toEqual({
    issue: { a: TEN },
    issues: { nodes: [{ b: TEN }] },
    mergeRequests: { nodes: [{ c: TEN, d: null }] },
  })
  expect(errors).toMatchObject([{ message: limitMessage, path: ['project', 'mergeRequests', 'nodes', 0, 'd'] }])
})

test('counts the description for task counts, and returns null for objects beyond the limit', async () => {
  await issues(TEN, TEN, TEN, TEN, TEN)
  const { data, errors } = await inApp(listed('taskCompletionStatus { count completedCount }'))
  const done = { taskCompletionStatus: { count: 1, completedCount: 1 } }
  expect(data.project.issues.nodes).toEqual([done, done, done, null, null])
  expect(errors).toMatchObject([
    { message: limitMessage, path: ['project', 'issues', 'nodes', 3, 'taskCompletionStatus'] },
  ])
  expect(errors).toHaveLength(1)
})

test('reads descriptions in document order, whichever list is loaded first', async () => {
  await issues(TEN, TEN)
  await mergeRequest('retry', TEN)
  await mergeRequest('other', TEN)
  const list = (alias: string, of: string) => `${alias}: ${of} { nodes { description } }`
  const ask = async (...lists: string[]) => (await inApp(lists.join(' '))).data.project
  expect(await ask(list('a', 'issues'), list('b', 'mergeRequests'))).toEqual({
    a: { nodes: nodesWith(TEN, TEN) },
    b: { nodes: nodesWith(TEN, null) },
  })
  expect(await ask(list('a', 'mergeRequests'), list('b', 'issues'))).toEqual({
    a: { nodes: nodesWith(TEN, TEN) },
    b: { nodes: nodesWith(TEN, null) },
  })
})

test('shares the limit between the operations of a request, and reports it once in each', async () => {
  await issues(TEN, TEN)
  const query = `{ project(fullPath: "web/app") { ${listed('description')} } }`
  const { body } = await server.send({
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${await server.tokenOf(alice)}` },
    body: JSON.stringify([{ query }, { query }, { query }]),
  })
  const nodes = body.map(({ data }: { data: typeof body }) => data.project.issues.nodes)
  expect(nodes).toEqual([nodesWith(TEN, TEN), nodesWith(TEN, null), nodesWith(null, null)])
  expect(body.map(({ errors = [] }: { errors?: object[] }) => errors.length)).toEqual([0, 1, 1])
})

test('reads the description again after a mutation', async () => {
  await issues(TEN)
  const change = (text: string) =>
    `updateIssue(input: { projectPath: "web/app", iid: "1", description: "${text}" }) { issue { description } errors }`
  const { body } = await server.ask(`mutation { a: ${change('one')} b: ${change('two')} }`, { as: alice })
  expect(body).toEqual({
    data: { a: { issue: { description: 'one' }, errors: [] }, b: { issue: { description: 'two' }, errors: [] } },
  })
})

test('reads all descriptions of one kind with one statement', async () => {
  const ask = (page: string, fields: string) => () =>
    inApp(`a: issues(${page}) { nodes { ${fields} } } b: mergeRequests(${page}) { nodes { ${fields} } }`)
  await issues('a', 'b', 'c')
  await mergeRequest('retry', 'd')
  await mergeRequest('other', 'e')
  const texts = 'title description x: description taskCompletionStatus { count }'
  await ask('first: 1', 'title')()
  const without = await server.world.statements(ask('first: 3', 'title'))
  expect(await server.world.statements(ask('first: 1', texts))).toBe(without + 2)
  expect(await server.world.statements(ask('first: 3', texts))).toBe(without + 2)
})

const label = (name: string, description?: string) =>
  server.world.perform(alice, projectLabels.create, { parent: app.id, name, color: '#fff', description })
const milestone = (title: string, description?: string) =>
  server.world.perform(alice, projectMilestones.create, { parent: app.id, title, description })
const commit = (commitMessage: string, branch: string, startBranch?: string) =>
  server.world.perform(alice, createCommit, {
    project: app.id,
    branch,
    startBranch,
    commitMessage,
    actions: [{ action: 'create', filePath: commitMessage.split(' ')[0]!, content: '' }],
  })

test('limits the descriptions of labels', async () => {
  await label('a', TEN)
  await label('b')
  await label('c', TEN)
  await server.world.perform(alice, createIssue, { project: app.id, title: 'A', labels: ['c'] })
  const nodes = '{ nodes { title description } }'
  const { data, errors } = await inApp(
    `labels ${nodes} label(title: "a") { title description descriptionHtml } issue(iid: "1") { labels ${nodes} }`,
  )
  expect(data.project).toEqual({
    labels: {
      nodes: [
        { title: 'a', description: TEN },
        { title: 'b', description: null },
        { title: 'c', description: TEN },
      ],
    },
    label: { title: 'a', description: TEN, descriptionHtml: null },
    issue: { labels: { nodes: [{ title: 'c', description: null }] } },
  })
  expect(errors).toMatchObject([{ message: limitMessage, path: ['project', 'label', 'descriptionHtml'] }])
  expect(errors).toHaveLength(1)
})

test('limits the descriptions of milestones, also those of issues', async () => {
  const { id } = await milestone('a', TEN)
  await milestone('b', TEN)
  await server.world.perform(alice, createIssue, { project: app.id, title: 'A', milestoneId: id })
  const one = `milestone(id: "gid://svc/Milestone/${id}")`
  const alone = await server.ask(`{ ${one} { description } }`, { as: alice })
  expect(alone.body).toEqual({ data: { milestone: { description: TEN } } })
  const ofMilestones = 'milestones(sort: CREATED_ASC) { nodes { title description } }'
  const { data, errors } = await inApp(
    `${ofMilestones} issues { nodes { milestone { title a: description b: description } } }`,
  )
  expect(data.project).toEqual({
    milestones: {
      nodes: [
        { title: 'a', description: TEN },
        { title: 'b', description: TEN },
      ],
    },
    issues: { nodes: [{ milestone: { title: 'a', a: TEN, b: null } }] },
  })
  expect(errors).toMatchObject([{ message: limitMessage, path: ['project', 'issues', 'nodes', 0, 'milestone', 'b'] }])
})

test('counts a commit message once for each field that is made from it', async () => {
  await commit('one', 'main')
  await commit('two <2>\n\nthree', 'retry', 'main')
  await commit('four', 'retry')
  await mergeRequest('retry', '')
  const shown = 'sha title titleHtml description'
  const { data, errors } = await inApp(
    `mergeRequest(iid: "1") { commits { nodes { ${shown} } } } repository { commit(ref: "main") { message authorName } }`,
  )
  const sha = expect.stringMatching(/^[0-9a-f]{40}$/)
  expect(data.project).toEqual({
    mergeRequest: {
      commits: {
        nodes: [
          { sha, title: 'four', titleHtml: 'four', description: null },
          { sha, title: 'two <2>', titleHtml: null, description: null },
        ],
      },
    },
    repository: { commit: { message: null, authorName: 'alice Holt' } },
  })
  expect(errors).toMatchObject([{ message: limitMessage }])
  expect(errors).toHaveLength(1)
})

test('needs the same number of statements for many labels and milestones as for one', async () => {
  const fields = `labels(first: 10) { nodes { description descriptionHtml } } issues { nodes {
    milestone { description } labels { nodes { description } } } }`
  const add = async (name: string) => {
    await label(name, 'x')
    const { id: milestoneId } = await milestone(name, 'x')
    const draft = { project: app.id, title: 'A', labels: [name], milestoneId }
    await server.world.perform(alice, createIssue, draft)
  }
  await add('a')
  await inApp(fields)
  const statementsForOne = await server.world.statements(() => inApp(fields))
  await add('b')
  await add('c')
  expect(await server.world.statements(() => inApp(fields))).toBe(statementsForOne)
})
