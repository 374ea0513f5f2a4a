import {
  accessLevels,
  createCommit,
  type MergeRequest,
  type Project,
  projectLabels,
  projectMilestones,
  putPipelineRecord,
  type User,
  updateMergeRequest,
} from '@penstock/core'
import { recordInput } from '@penstock/testkit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Answer, GraphqlServer } from '../../http/graphql-server.harness.ts'

let server: GraphqlServer
let root: User
let alice: User
let bob: User
let app: Project

beforeEach(async () => {
  server = await GraphqlServer.start()
  const { world } = server
  root = await world.user('root', { isAdministrator: true })
  alice = await world.user('alice')
  bob = await world.user('bob')
  app = await world.project('app', await world.group('web'))
  await world.member(app, alice, accessLevels.reporter)
  await world.member(app, bob, accessLevels.maintainer)
})
afterEach(() => server.close())

const create = (sourceBranch: string, more: object = {}, actor = bob): Promise<MergeRequest> => {
  const draft = { project: app.id, title: `Take in ${sourceBranch}`, sourceBranch, targetBranch: 'main', ...more }
  return server.world.mergeRequest(actor, draft)
}
const commit = async (branch: string, commitMessage: string, filePath: string, content: string, more: object = {}) => {
  const actions = [{ action: 'create', filePath, content }]
  const input = { project: app.id, branch, commitMessage, actions, ...more }
  return (await server.world.perform(bob, createCommit, input)).sha
}
const record = (pipelineId: number, ref: string, more: object = {}) =>
  server.world.perform(
    root,
    putPipelineRecord,
    recordInput({
      project: app.id,
      pipelineId,
      objectAttributes: { id: pipelineId, status: 'running', ref, createdAt: '2026-02-03 04:00:00 UTC', ...more },
    }),
  )
const one = async (fields: string, as: User | undefined = alice, iid = 1) => {
  const { body } = await server.ask(`{ project(fullPath: "web/app") { mergeRequest(iid: "${iid}") { ${fields} } } }`, {
    ...(as && { as }),
  })
  expect(body.errors).toBeUndefined()
  return body.data.project.mergeRequest
}

test('lists the merge requests that await a review by the caller', async () => {
  await commit('main', 'Begin', 'README.md', 'app\n')
  const sha = await commit('retry', 'Retry on 503', 'retry.ts', 'again\n', { startBranch: 'main' })
  await create('retry', { title: 'Add retry', reviewerIds: [alice.id] })
  await create('other')
  await record(31, 'retry', { sha })
  const { body } = await server.ask(
    `query {
      queryComplexity { score }
      currentUser {
        reviewRequestedMergeRequests(state: opened, first: 1) {
          count
          nodes {
            id iid title draft sourceBranch targetBranch detailedMergeStatus
            author { username }
            reviewers { nodes { username mergeRequestInteraction { reviewState canMerge } } }
            headPipeline { status }
            commits(first: 1) { nodes { shortId title } }
          }
        }
      }
    }`,
    { as: alice },
  )
  expect(body).toEqual({
    data: {
      // The score without queryComplexity is 26.
      queryComplexity: { score: 28 },
      currentUser: {
        reviewRequestedMergeRequests: {
          count: 1,
          nodes: [
            {
              id: 'gid://svc/MergeRequest/1',
              iid: '1',
              title: 'Add retry',
              draft: false,
              sourceBranch: 'retry',
              targetBranch: 'main',
              detailedMergeStatus: 'MERGEABLE',
              author: { username: 'bob' },
              reviewers: {
                nodes: [{ username: 'alice', mergeRequestInteraction: { reviewState: 'UNREVIEWED', canMerge: false } }],
              },
              headPipeline: { status: 'RUNNING' },
              commits: { nodes: [{ shortId: sha.slice(0, 8), title: 'Retry on 503' }] },
            },
          ],
        },
      },
    },
  })
})

test('shows the fields of a merge request', async () => {
  await create('retry', { title: '[Draft] Retry', description: '- [x] one\n- [ ] two', squash: true })
  expect(
    await one(`name state draft reference full: reference(full: true) webUrl webPath createdAt mergedAt projectId
      project { fullPath } targetProject { name } squash sourceBranchExists targetBranchExists diffHeadSha
      taskCompletionStatus { count completedCount } mergeStatusEnum detailedMergeStatus mergeable upvotes hasCi
      commitCount diffRefs { headSha } commits { nodes { sha } } headPipeline { id } milestone { title }`),
  ).toEqual({
    name: '[Draft] Retry',
    state: 'opened',
    draft: true,
    reference: '!1',
    full: 'web/app!1',
    webUrl: 'https://svc.example.test/web/app/-/merge_requests/1',
    webPath: '/web/app/-/merge_requests/1',
    createdAt: '2026-02-03T04:05:06Z',
    mergedAt: null,
    projectId: app.id,
    project: { fullPath: 'web/app' },
    targetProject: { name: 'app' },
    squash: true,
    sourceBranchExists: false,
    targetBranchExists: false,
    diffHeadSha: null,
    taskCompletionStatus: { count: 2, completedCount: 1 },
    mergeStatusEnum: 'CANNOT_BE_MERGED',
    detailedMergeStatus: 'DRAFT_STATUS',
    mergeable: false,
    upvotes: 0,
    hasCi: false,
    commitCount: null,
    diffRefs: null,
    commits: null,
    headPipeline: null,
    milestone: null,
  })
})

test('shows the changes of the branch since the merge base', async () => {
  const base = await commit('main', 'Begin', 'README.md', 'app\n')
  const first = await commit('retry', 'Retry', 'src/retry.ts', 'one\ntwo\n', { startBranch: 'main' })
  const head = await commit('retry', 'Docs', 'docs.md', 'text\n')
  const start = await commit('main', 'Elsewhere', 'other.ts', 'x\n')
  await create('retry')
  expect(
    await one(`sourceBranchExists targetBranchExists targetBranchPath divergedFromTargetBranch commitCount
      diffHeadSha diffRefs { baseSha headSha startSha } diffStatsSummary { additions deletions changes fileCount }
      diffStats { path additions deletions } docs: diffStats(path: "docs.md") { path }
      commits { nodes { sha } } commitsWithoutMergeCommits(last: 1) { nodes { sha } }`),
  ).toEqual({
    sourceBranchExists: true,
    targetBranchExists: true,
    targetBranchPath: '/web/app/-/tree/main',
    divergedFromTargetBranch: true,
    commitCount: 2,
    diffHeadSha: head,
    diffRefs: { baseSha: base, headSha: head, startSha: start },
    diffStatsSummary: { additions: 3, deletions: 0, changes: 3, fileCount: 2 },
    diffStats: [
      { path: 'docs.md', additions: 1, deletions: 0 },
      { path: 'src/retry.ts', additions: 2, deletions: 0 },
    ],
    docs: [{ path: 'docs.md' }],
    commits: { nodes: [{ sha: head }, { sha: first }] },
    commitsWithoutMergeCommits: { nodes: [{ sha: first }] },
  })
})

test('shows people with their permissions, labels and the milestone', async () => {
  const { world } = server
  await world.perform(root, projectLabels.create, { parent: app.id, name: 'bug', color: '#ff0000' })
  const { id: milestoneId } = await world.perform(root, projectMilestones.create, { parent: app.id, title: 'Spring' })
  await create('retry', { assigneeIds: [alice.id], reviewerIds: [root.id], labels: ['bug'], milestoneId })
  const can = 'username mergeRequestInteraction { canUpdate reviewState }'
  expect(
    await one(`author { ${can} } assignees { count nodes { ${can} } } reviewers { nodes { ${can} } }
      participants(first: 2) { count nodes { username } pageInfo { hasNextPage } } approvedBy { nodes { id } }
      labels { count nodes { title color } } milestone { title }`),
  ).toEqual({
    author: { username: 'bob', mergeRequestInteraction: { canUpdate: true, reviewState: null } },
    assignees: {
      count: 1,
      nodes: [{ username: 'alice', mergeRequestInteraction: { canUpdate: true, reviewState: null } }],
    },
    reviewers: {
      nodes: [{ username: 'root', mergeRequestInteraction: { canUpdate: true, reviewState: 'UNREVIEWED' } }],
    },
    participants: {
      count: 3,
      nodes: [{ username: 'bob' }, { username: 'alice' }],
      pageInfo: { hasNextPage: true },
    },
    approvedBy: { nodes: [] },
    labels: { count: 1, nodes: [{ title: 'bug', color: '#ff0000' }] },
    milestone: { title: 'Spring' },
  })
})

test('shows the permissions of the caller', async () => {
  await commit('main', 'Begin', 'README.md', 'app\n')
  await commit('retry', 'Retry', 'retry.ts', 'again\n', { startBranch: 'main' })
  await create('retry')
  const permissions = `userPermissions { readMergeRequest adminMergeRequest updateMergeRequest canMerge pushToSourceBranch }`
  const [ofReporter, ofDeveloper] = [await one(permissions), await one(permissions, bob)]
  expect(ofReporter.userPermissions).toEqual({
    readMergeRequest: true,
    adminMergeRequest: false,
    updateMergeRequest: false,
    canMerge: false,
    pushToSourceBranch: false,
  })
  expect(ofDeveloper.userPermissions).toMatchObject({ adminMergeRequest: true, pushToSourceBranch: true })
})

test('shows the newest pipeline of the head commit of the source branch', async () => {
  await commit('main', 'Begin', 'README.md', 'app\n')
  const sha = await commit('retry', 'Retry', 'retry.ts', 'again\n', { startBranch: 'main' })
  await create('retry')
  await record(31, 'retry', { sha, status: 'success' })
  await record(32, 'retry', { sha: 'f'.repeat(40) })
  await record(33, 'main', { sha })
  expect(await one('hasCi headPipeline { id } pipelines { nodes { id } }')).toEqual({
    hasCi: true,
    headPipeline: { id: 'gid://svc/Ci::Pipeline/31' },
    pipelines: { nodes: [{ id: 'gid://svc/Ci::Pipeline/32' }, { id: 'gid://svc/Ci::Pipeline/31' }] },
  })
})

test('returns null to callers who may not see the merge request', async () => {
  const { id } = await create('retry')
  const document = `{ mergeRequest(id: "gid://svc/MergeRequest/${id}") { title }
    project(fullPath: "web/app") { mergeRequests { count } mergeRequest(iid: "1") { title } } }`
  const guest = await server.world.user('guest')
  expect((await server.ask(document, { as: guest })).body).toEqual({ data: { mergeRequest: null, project: null } })
  await server.world.member(app, guest, accessLevels.guest)
  expect((await server.ask(document, { as: guest })).body).toEqual({
    data: { mergeRequest: null, project: { mergeRequests: null, mergeRequest: null } },
  })
  expect((await server.ask('{ mergeRequests { count } }')).body).toEqual({ data: { mergeRequests: null } })
  expect((await server.ask(document, { as: alice })).body.data.mergeRequest).toEqual({ title: 'Take in retry' })
})

test('needs as many statements for twelve merge requests as for two', async () => {
  await commit('main', 'Begin', 'README.md', 'app\n')
  const add = async (name: string) => {
    await commit(name, 'Work', `${name}.ts`, 'x\n', { startBranch: 'main' })
    await create(name, { assigneeIds: [alice.id], reviewerIds: [bob.id], labels: [name] })
  }
  const ask = async () => {
    let answer: Answer | undefined
    const document = `{ project(fullPath: "web/app") { mergeRequests { count totalTimeToMerge nodes {
      project { name } userPermissions { updateMergeRequest } commitCount diffStatsSummary { fileCount } targetBranchExists
      labels { count nodes { title } } assignees { nodes { username mergeRequestInteraction { canUpdate } } }
      headPipeline { status } milestone { title } } } } }`
    const count = await server.world.statements(async () => {
      answer = await server.ask(document, { as: alice })
    })
    expect(answer!.body.errors).toBeUndefined()
    return { count, nodes: answer!.body.data.project.mergeRequests.nodes }
  }
  await add('a')
  await add('b')
  const two = await ask()
  for (const name of 'cdefghijkl') await add(name)
  const twelve = await ask()
  expect([two.nodes.length, twelve.nodes.length]).toEqual([2, 12])
  expect(twelve.nodes.map((node: { commitCount: number }) => node.commitCount)).toEqual(Array(12).fill(1))
  expect(twelve.count).toBe(two.count)
})

test('returns null for an id that is too large to exist', async () => {
  const { body } = await server.ask('{ mergeRequest(id: "gid://svc/MergeRequest/999999999999999") { id } }', {
    as: alice,
  })
  expect(body).toEqual({ data: { mergeRequest: null } })
})

test('shows a closed merge request', async () => {
  await create('retry')
  await server.world.perform(bob, updateMergeRequest, { project: app.id, mergeRequestIid: 1, stateEvent: 'close' })
  expect(await one('state closedAt detailedMergeStatus')).toEqual({
    state: 'closed',
    closedAt: '2026-02-03T04:05:06Z',
    detailedMergeStatus: 'NOT_OPEN',
  })
})
