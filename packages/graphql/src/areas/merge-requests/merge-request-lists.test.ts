import {
  accessLevels,
  archiveProject,
  type Group,
  type MergeRequest,
  type Project,
  projectLabels,
  projectMilestones,
  type User,
  updateMergeRequest,
} from '@penstock/core'
import type { World } from '@penstock/testkit'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { GraphqlServer } from '../../http/graphql-server.harness.ts'

let server: GraphqlServer
let world: World
let root: User
let alice: User
let bob: User
let web: Group
let app: Project

beforeEach(async () => {
  server = await GraphqlServer.start()
  world = server.world
  root = await world.user('root', { isAdministrator: true })
  alice = await world.user('alice')
  bob = await world.user('bob')
  web = await world.group('web')
  app = await world.project('app', web)
  await world.member(web, alice, accessLevels.developer)
  await world.member(web, bob, accessLevels.developer)
})
afterEach(() => server.close())

const create = async (sourceBranch: string, more: object = {}, actor = bob): Promise<MergeRequest> => {
  await world.clock.advance(60_000)
  const draft = { project: app.id, title: sourceBranch, sourceBranch, targetBranch: 'main', ...more }
  return world.mergeRequest(actor, draft)
}
const update = async ({ iid, projectId }: MergeRequest, changes: object) => {
  await world.clock.advance(60_000)
  return world.perform(bob, updateMergeRequest, { project: projectId, mergeRequestIid: iid, ...changes })
}
const merged = ({ id }: MergeRequest, mergedAtMs: number) =>
  world.core.db.write((db) =>
    db
      .updateTable('merge_requests')
      .set({ state: 'merged', merged_at_ms: mergedAtMs, merged_by_id: bob.id })
      .where('id', '=', id)
      .execute(),
  )

type Nodes = readonly { readonly title: string }[]
const titles = (nodes: Nodes) => nodes.map(({ title }) => title)
const data = async (document: string, as: User | undefined = alice) => {
  const { body } = await server.ask(document, as && { as })
  expect(body.errors).toBeUndefined()
  return body.data
}
const listed = async (args: string) => {
  const call = args === '' ? 'mergeRequests' : `mergeRequests(${args})`
  return titles(
    (await data(`{ project(fullPath: "web/app") { ${call} { nodes { title } } } }`)).project.mergeRequests.nodes,
  )
}

describe('merge requests of a project', () => {
  beforeEach(async () => {
    const due = { dueDate: '2026-03-01', startDate: '2026-01-01' }
    await world.perform(root, projectMilestones.create, { parent: app.id, title: 'Late', dueDate: '2026-09-01' })
    const { id: milestoneId } = await world.perform(root, projectMilestones.create, {
      parent: app.id,
      title: 'Soon',
      ...due,
    })
    await world.perform(root, projectLabels.create, { parent: app.id, name: 'urgent', color: '#ff0000', priority: 1 })
    await create('retry', {
      labels: ['net', 'urgent'],
      assigneeIds: [alice.id, bob.id],
      milestoneId,
      reviewerIds: [bob.id],
    })
    await create('cache', { labels: ['net'], reviewerIds: [alice.id, bob.id], milestoneId: milestoneId - 1 })
    const old = await create('old', { targetBranch: 'stable', description: 'a retry of its own' }, alice)
    await update(old, { stateEvent: 'close' })
    await create('ui', { title: 'Draft: ui', assigneeIds: [bob.id] })
    await merged(await create('done'), Date.UTC(2026, 1, 3, 6))
  })

  test.each([
    ['', ['done', 'Draft: ui', 'old', 'cache', 'retry']],
    ['state: opened', ['Draft: ui', 'cache', 'retry']],
    ['state: merged', ['done']],
    ['iids: ["2", "x", "4"]', ['Draft: ui', 'cache']],
    ['iids: ["x"]', []],
    ['iids: []', ['done', 'Draft: ui', 'old', 'cache', 'retry']],
    ['draft: true', ['Draft: ui']],
    ['authorUsername: "ALICE"', ['old']],
    ['assigneeUsername: "alice"', ['retry']],
    ['assigneeUsernames: ["alice", "bob"]', ['retry']],
    ['assigneeWildcardId: NONE', ['done', 'old', 'cache']],
    ['assigneeWildcardId: ANY', ['Draft: ui', 'retry']],
    ['reviewerUsername: "alice"', ['cache']],
    ['reviewerWildcardId: ANY', ['cache', 'retry']],
    ['mergedBy: "bob"', ['done']],
    ['sourceBranches: ["ui", "old"]', ['Draft: ui', 'old']],
    ['sourceBranches: []', []],
    ['targetBranches: ["stable"]', ['old']],
    ['labelName: ["net", null, "urgent"]', ['retry']],
    ['labelName: ["net"], labels: ["urgent"]', ['retry']],
    ['milestoneTitle: "Soon"', ['retry']],
    ['milestoneWildcardId: NONE', ['done', 'Draft: ui', 'old']],
    ['milestoneWildcardId: STARTED', ['retry']],
    ['mergedAfter: "2026-02-03T06:00:00Z"', ['done']],
    ['mergedBefore: "2026-02-03T05:59:59Z"', []],
    ['closedAfter: "2026-02-03"', ['old']],
    ['createdBefore: "2026-02-03T04:06:30Z"', ['retry']],
    ['updatedAfter: "2026-02-03T04:09:30Z"', ['done', 'Draft: ui']],
    ['search: "RETRY"', ['old', 'retry']],
    ['search: "retry", in: [TITLE]', ['retry']],
    ['not: { authorUsername: "bob" }', ['old']],
    ['not: { labelName: ["net"] }', ['done', 'Draft: ui', 'old']],
    ['not: { assigneeUsernames: ["alice", "bob"] }', ['done', 'old', 'cache']],
    ['not: { reviewerUsername: "bob" }', ['done', 'Draft: ui', 'old']],
    ['not: { milestoneTitle: "Soon" }', ['done', 'Draft: ui', 'old', 'cache']],
    ['not: { sourceBranches: ["ui"], targetBranches: ["stable"] }', ['done', 'cache', 'retry']],
    ['or: { assigneeUsernames: ["alice", "unknown"] }', ['retry']],
    ['or: { onlyReviewerUsername: "bob" }', ['retry']],
    ['or: { onlyReviewerUsername: "bob", reviewerWildcard: NONE }', ['done', 'Draft: ui', 'old', 'retry']],
    ['authorUsername: null, not: null', ['done', 'Draft: ui', 'old', 'cache', 'retry']],
  ])('filters by %s', async (args, expected) => {
    expect(await listed(args)).toEqual(expected)
  })

  test.each([
    ['CREATED_ASC', ['retry', 'cache', 'old', 'Draft: ui', 'done']],
    ['created_desc', ['done', 'Draft: ui', 'old', 'cache', 'retry']],
    ['UPDATED_DESC', ['done', 'Draft: ui', 'old', 'cache', 'retry']],
    ['TITLE_ASC', ['Draft: ui', 'cache', 'done', 'old', 'retry']],
    ['MERGED_AT_ASC', ['done', 'retry', 'cache', 'old', 'Draft: ui']],
    ['MERGED_AT_DESC', ['done', 'Draft: ui', 'old', 'cache', 'retry']],
    ['CLOSED_AT_ASC', ['old', 'retry', 'cache', 'Draft: ui', 'done']],
    ['MILESTONE_DUE_ASC', ['retry', 'cache', 'done', 'Draft: ui', 'old']],
    ['MILESTONE_DUE_DESC', ['cache', 'retry', 'done', 'Draft: ui', 'old']],
    ['LABEL_PRIORITY_ASC', ['retry', 'done', 'Draft: ui', 'old', 'cache']],
    ['PRIORITY_ASC', ['retry', 'cache', 'done', 'Draft: ui', 'old']],
    ['POPULARITY_DESC', ['done', 'Draft: ui', 'old', 'cache', 'retry']],
  ])('sorts by %s, also in pages and from the end', async (sort, expected) => {
    expect(await listed(`sort: ${sort}`)).toEqual(expected)
    const pages = { forward: [] as string[], backward: [] as string[] }
    let [after, before] = ['', '']
    for (let page = 0; page < 3; page += 1) {
      const { forward, backward } = (
        await data(`{ project(fullPath: "web/app") {
          forward: mergeRequests(sort: ${sort}, first: 2, after: "${after}") { nodes { title } pageInfo { endCursor } }
          backward: mergeRequests(sort: ${sort}, last: 2, before: "${before}") { nodes { title } pageInfo { startCursor } }
        } }`)
      ).project
      pages.forward.push(...titles(forward.nodes))
      pages.backward.unshift(...titles(backward.nodes))
      after = forward.pageInfo.endCursor
      before = backward.pageInfo.startCursor
    }
    expect(pages).toEqual({ forward: expected, backward: expected })
  })

  test('counts them, and adds up the time until they were merged', async () => {
    const { project } = await data(`{ project(fullPath: "web/app") {
      all: mergeRequests { count totalTimeToMerge }
      opened: mergeRequests(state: opened) { count totalTimeToMerge }
    } }`)
    const createdAtMs = Date.UTC(2026, 1, 3, 4, 5, 6, 789) + 6 * 60_000
    expect(project).toEqual({
      all: { count: 5, totalTimeToMerge: (Date.UTC(2026, 1, 3, 6) - createdAtMs) / 1_000 },
      opened: { count: 3, totalTimeToMerge: 0 },
    })
  })
})

describe('other lists', () => {
  test('lists merge requests of a group, of its subgroups and archived projects only on request', async () => {
    const lib = await world.project('lib', await world.group('core', { parent: web }))
    const attic = await world.project('attic', web)
    await create('here')
    await create('below', { project: lib.id })
    await create('away', { project: attic.id })
    await world.perform(root, archiveProject, { project: attic.id })
    const { group } = await data(`{ group(fullPath: "web") {
      own: mergeRequests { nodes { title } }
      below: mergeRequests(includeSubgroups: true) { count nodes { title } }
      all: mergeRequests(includeSubgroups: true, includeArchived: true, sort: CREATED_ASC) { nodes { title } }
    } }`)
    expect([titles(group.own.nodes), titles(group.below.nodes), titles(group.all.nodes)]).toEqual([
      ['here'],
      ['below', 'here'],
      ['here', 'below', 'away'],
    ])
  })

  test('lists merge requests of a user by their part in them', async () => {
    const site = await world.project('site', web)
    await create('made', {}, alice)
    await create('given', { assigneeIds: [alice.id] })
    await create('read', { reviewerIds: [alice.id], project: site.id })
    const document = `{ user(username: "alice") {
      authored: authoredMergeRequests { nodes { title } }
      assigned: assignedMergeRequests(projectPath: "WEB/app") { nodes { title } }
      elsewhere: assignedMergeRequests(projectPath: "web/none") { count nodes { title } }
      reviews: reviewRequestedMergeRequests(state: opened, search: "read") { nodes { title } }
    } }`
    expect((await data(document, bob)).user).toEqual({
      authored: { nodes: [{ title: 'made' }] },
      assigned: { nodes: [{ title: 'given' }] },
      elsewhere: { count: 0, nodes: [] },
      reviews: { nodes: [{ title: 'read' }] },
    })
    const stranger = await world.user('stranger')
    expect((await data(document, stranger)).user.authored).toEqual({ nodes: [] })
  })

  test('lists all merge requests to signed-in callers', async () => {
    await create('one')
    const open = await world.project('open', bob, 'public')
    await create('two', { project: open.id })
    const document = '{ mergeRequests(sort: CREATED_ASC) { count nodes { title } } }'
    expect((await data(document)).mergeRequests).toEqual({ count: 2, nodes: [{ title: 'one' }, { title: 'two' }] })
    const stranger = await world.user('stranger')
    expect((await data(document, stranger)).mergeRequests).toEqual({ count: 1, nodes: [{ title: 'two' }] })
  })

  test('reports an invalid cursor and an invalid time', async () => {
    const { body } = await server.ask('{ mergeRequests(after: "x") { nodes { id } } }', { as: alice })
    expect(body.errors[0]).toMatchObject({ message: 'Please provide a valid cursor', path: ['mergeRequests', 'nodes'] })
  })
})
