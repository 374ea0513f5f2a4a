import {
  accessLevels,
  approveMergeRequest,
  createMergeRequest,
  getProjectMergeRequest,
  groupLabels,
  type Project,
  projectLabels,
  projectMilestones,
  type User,
} from '@penstock/core'
import type { World } from '@penstock/testkit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { GraphqlServer } from '../../http/graphql-server.harness.ts'

const NOT_AVAILABLE =
  "The resource that you are attempting to access does not exist or you don't have permission to perform this action"

let server: GraphqlServer
let world: World
let root: User
let alice: User
let bob: User
let app: Project

beforeEach(async () => {
  server = await GraphqlServer.start()
  world = server.world
  root = await world.user('root', { isAdministrator: true })
  alice = await world.user('alice')
  bob = await world.user('bob')
  app = await world.project('app', await world.group('web'))
  await world.member(app, alice, accessLevels.reporter)
  await world.member(app, bob, accessLevels.developer)
  const draft = { project: app.id, title: 'Add retry', sourceBranch: 'retry', targetBranch: 'main' }
  await world.branches(app, 'retry', 'main', 'cache', 'stable')
  await world.perform(bob, createMergeRequest, draft)
})
afterEach(() => server.close())

const run = async (name: string, input: string, fields: string, as: User | undefined = bob) => {
  const document = `mutation { ${name}(input: { projectPath: "web/app", ${input} }) { errors mergeRequest { ${fields} } } }`
  const { body } = await server.ask(document, as && { as })
  return body
}
const change = async (name: string, input: string, fields: string, as?: User) => {
  const body = await run(`mergeRequest${name}`, `iid: "1", ${input}`, fields, as)
  expect(body.errors).toBeUndefined()
  const payload = body.data[`mergeRequest${name}`]
  expect(payload.errors).toEqual([])
  return payload.mergeRequest
}
const stored = () => world.perform(root, getProjectMergeRequest, { project: app.id, mergeRequestIid: 1 })

test('creates a merge request', async () => {
  const input = `title: "Draft: Cache", sourceBranch: "cache", targetBranch: "main", description: "d", labels: ["net"],
    removeSourceBranch: true, clientMutationId: "7"`
  const fields = 'iid title draft description forceRemoveSourceBranch author { username } labels { nodes { title } }'
  const { data } = await run('mergeRequestCreate', input, fields)
  expect(data.mergeRequestCreate).toEqual({
    errors: [],
    mergeRequest: {
      iid: '2',
      title: 'Draft: Cache',
      draft: true,
      description: 'd',
      forceRemoveSourceBranch: true,
      author: { username: 'bob' },
      labels: { nodes: [{ title: 'net' }] },
    },
  })
})

test('reports why a merge request cannot be created', async () => {
  const input = 'title: "Again", sourceBranch: "retry", targetBranch: "main"'
  expect((await run('mergeRequestCreate', input, 'iid')).data.mergeRequestCreate).toEqual({
    errors: ['Another open merge request already exists for this source branch: !1'],
    mergeRequest: null,
  })
  const body = await run('mergeRequestCreate', input, 'iid', alice)
  expect(body.data).toEqual({ mergeRequestCreate: null })
  expect(body.errors).toMatchObject([{ message: NOT_AVAILABLE, path: ['mergeRequestCreate'] }])
})

test('changes title, description, branch and state, and keeps what is absent', async () => {
  const input = 'title: "Retry", description: "why", targetBranch: "stable", state: CLOSED'
  expect(await change('Update', input, 'title description targetBranch state')).toEqual({
    title: 'Retry',
    description: 'why',
    targetBranch: 'stable',
    state: 'closed',
  })
  expect(await change('Update', 'description: null, state: OPEN', 'title description state')).toEqual({
    title: 'Retry',
    description: null,
    state: 'opened',
  })
})

test('rejects a caller without permission as for a missing merge request, and changes nothing', async () => {
  const stranger = await world.user('stranger')
  for (const as of [alice, stranger]) {
    for (const input of ['iid: "1", title: "Mine"', 'iid: "9", title: "Mine"', 'iid: "x", title: "Mine"']) {
      const body = await run('mergeRequestUpdate', input, 'title', as)
      expect(body).toMatchObject({ data: { mergeRequestUpdate: null }, errors: [{ message: NOT_AVAILABLE }] })
    }
    const body = await run('mergeRequestSetDraft', 'iid: "1", draft: true', 'title', as)
    expect(body).toMatchObject({ data: { mergeRequestSetDraft: null }, errors: [{ message: NOT_AVAILABLE }] })
  }
  const { body } = await server.ask(
    'mutation { mergeRequestSetLocked(input: { projectPath: "web/app", iid: "1", locked: true }) { errors } }',
  )
  expect(body).toMatchObject({ data: { mergeRequestSetLocked: null }, errors: [{ message: NOT_AVAILABLE }] })
  expect(await stored()).toMatchObject({ title: 'Add retry', isDiscussionLocked: undefined })
})

test.each([
  ['SetAssignees', 'assigneeUsernames', 'assignees'],
  ['SetReviewers', 'reviewerUsernames', 'reviewers'],
])('%s replaces, appends and removes users, and ignores unknown names', async (name, argument, field) => {
  const people = async (input: string) => {
    const { [field]: list } = await change(name, input, `${field} { nodes { username } }`)
    return list.nodes.map(({ username }: { username: string }) => username)
  }
  expect(await people(`${argument}: ["ALICE", "unknown"]`)).toEqual(['alice'])
  expect(await people(`${argument}: ["bob"], operationMode: APPEND`)).toEqual(['alice', 'bob'])
  expect(await people(`${argument}: ["alice"], operationMode: REMOVE`)).toEqual(['bob'])
  expect(await people(`${argument}: [], operationMode: REPLACE`)).toEqual([])
})

test('lets an assignee change the merge request', async () => {
  await change('SetAssignees', 'assigneeUsernames: ["alice"]', 'iid')
  expect(await change('Update', 'title: "Mine"', 'title', alice)).toEqual({ title: 'Mine' })
})

test('marks a draft in the title, and removes the mark', async () => {
  expect(await change('SetDraft', 'draft: true', 'title draft')).toEqual({ title: 'Draft: Add retry', draft: true })
  expect(await change('SetDraft', 'draft: true', 'title')).toEqual({ title: 'Draft: Add retry' })
  expect(await change('SetDraft', 'draft: false', 'title draft')).toEqual({ title: 'Add retry', draft: false })
})

test('rejects the draft mark if it makes the title too long', async () => {
  await change('Update', `title: "${'x'.repeat(250)}"`, 'iid')
  const { data } = await run('mergeRequestSetDraft', 'iid: "1", draft: true', 'title')
  expect(data.mergeRequestSetDraft).toEqual({ errors: ['Title is too long, or would be empty'], mergeRequest: null })
})

test('sets labels by ids, of the project and its ancestor groups only', async () => {
  const make = { color: '#123456' }
  await world.perform(root, projectLabels.create, { parent: app.id, name: 'bug', ...make })
  await world.perform(root, groupLabels.create, { parent: 'web', name: 'docs', ...make })
  const other = await world.project('other', root)
  await world.perform(root, projectLabels.create, { parent: other.id, name: 'secret', ...make })
  const labels = async (input: string) => {
    const mergeRequest = await change('SetLabels', input, 'labels { nodes { title } }')
    return mergeRequest.labels.nodes.map(({ title }: { title: string }) => title)
  }
  const gid = (kind: string, id: number) => `"gid://svc/${kind}/${id}"`
  expect(await labels(`labelIds: [${gid('ProjectLabel', 1)}, ${gid('ProjectLabel', 3)}]`)).toEqual(['bug'])
  expect(await labels(`labelIds: [${gid('GroupLabel', 2)}], operationMode: APPEND`)).toEqual(['bug', 'docs'])
  expect(await labels(`labelIds: [${gid('Label', 1)}], operationMode: REMOVE`)).toEqual(['docs'])
  expect(await labels('labelIds: [], operationMode: null')).toEqual([])
})

test('locks and unlocks the discussion', async () => {
  expect(await change('SetLocked', 'locked: true', 'discussionLocked')).toEqual({ discussionLocked: true })
  expect(await change('SetLocked', 'locked: false', 'discussionLocked')).toEqual({ discussionLocked: false })
})

test('sets and removes a milestone, and rejects one of another project', async () => {
  const create = (parent: number, title: string) => world.perform(root, projectMilestones.create, { parent, title })
  const { id } = await create(app.id, 'Spring')
  const other = await create((await world.project('other', root)).id, 'Other')
  const set = (milestone: number) => `milestoneId: "gid://svc/Milestone/${milestone}"`
  expect(await change('SetMilestone', set(id), 'milestone { title }')).toEqual({ milestone: { title: 'Spring' } })
  const { data } = await run('mergeRequestSetMilestone', `iid: "1", ${set(other.id)}`, 'iid')
  expect(data.mergeRequestSetMilestone).toEqual({ errors: ['Milestone id is invalid'], mergeRequest: null })
  expect(await change('SetMilestone', 'milestoneId: null', 'milestone { title }')).toEqual({ milestone: null })
})

test('reviewers request changes, and are asked to review again', async () => {
  await change('SetReviewers', 'reviewerUsernames: ["bob"]', 'iid')
  const fields = `approved approvedBy { nodes { username } } reviewers { nodes { mergeRequestInteraction {
    approved reviewed reviewState canMerge canUpdate } } }`
  const interaction = async (mergeRequest: ReturnType<typeof change>) =>
    (await mergeRequest).reviewers.nodes[0].mergeRequestInteraction
  expect(await interaction(change('RequestChanges', '', fields))).toEqual({
    approved: false,
    reviewed: true,
    reviewState: 'REQUESTED_CHANGES',
    canMerge: true,
    canUpdate: true,
  })
  await world.perform(bob, approveMergeRequest, { project: app.id, mergeRequestIid: 1 })
  const list = async (filter: string) => {
    const document = `{ project(fullPath: "web/app") { mergeRequests(${filter}) { nodes { ${fields} } } } }`
    return (await server.ask(document, { as: bob })).body.data.project.mergeRequests.nodes
  }
  const [listed] = await list('approvedBy: ["bob"], reviewerUsername: "bob", reviewStates: [APPROVED]')
  expect(listed).toMatchObject({ approved: true, approvedBy: { nodes: [{ username: 'bob' }] } })
  expect(await list('reviewState: UNREVIEWED')).toEqual([])
  expect(await list('not: { reviewStates: [APPROVED] }')).toEqual([])
  expect(await list('or: { reviewStates: [APPROVED] }')).toHaveLength(1)
  const again = await interaction(change('ReviewerRereview', `userId: "gid://svc/User/${bob.id}"`, fields))
  expect(again).toMatchObject({ approved: false, reviewed: false, reviewState: 'UNREVIEWED' })
})
