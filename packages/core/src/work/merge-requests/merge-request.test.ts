import { World } from '@penstock/testkit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { DomainError } from '../../base/kit/domain-error.ts'
import { accessLevels } from '../../base/model/access-level.ts'
import type { Group } from '../../base/model/group.ts'
import type { Project } from '../../base/model/project.ts'
import type { User } from '../../base/model/user.ts'
import { removeBranch } from '../../code/repositories/branch-operations.ts'
import { createCommit } from '../../code/repositories/commit-operations.ts'
import { projectMilestones } from '../milestones/milestone-operations.ts'
import type { MergeRequest } from './merge-request.ts'
import {
  createMergeRequest,
  getProjectMergeRequest,
  listGroupMergeRequests,
  listMergeRequests,
  listProjectMergeRequests,
  removeMergeRequest,
  updateMergeRequest,
} from './merge-request-operations.ts'

let world: World
let developer: User
let reporter: User
let ops: Group
let tools: Project
beforeEach(async () => {
  world = await World.open()
  developer = await world.user('mira')
  reporter = await world.user('noor')
  ops = await world.group('ops')
  tools = await world.project('tools', ops)
  await world.member(ops, developer, accessLevels.developer)
  await world.member(tools, reporter, accessLevels.reporter)
})
afterEach(() => world.close())

const failure = (error: DomainError) => error.failure
const create = (sourceBranch: string, more: object = {}, actor = developer) =>
  world.mergeRequest(actor, {
    project: tools.id,
    title: `Take in ${sourceBranch}`,
    sourceBranch,
    targetBranch: 'main',
    ...more,
  })
const update = ({ iid }: MergeRequest, changes: object, actor = developer) =>
  world.perform(actor, updateMergeRequest, { project: tools.id, mergeRequestIid: iid, ...changes })
const branches = ({ items }: { readonly items: readonly MergeRequest[] }) => items.map((item) => item.sourceBranch)
const listed = async (filter: object) =>
  branches(await world.perform(developer, listProjectMergeRequests, { project: tools.id, ...filter }))

test.each(['../../x', 'a\nb', 'a b', 'refs/heads/main', 'x.lock'])(
  'the branch name %j is rejected, as Git rejects it',
  async (name) => {
    const failureOf = (path: string) => ({ code: 'parameters', problems: [{ path: [path], problem: 'invalid' }] })
    expect(await create(name).catch(failure)).toEqual(failureOf('sourceBranch'))
    expect(await create('next', { targetBranch: name }).catch(failure)).toEqual(failureOf('targetBranch'))
    const mergeRequest = await create('next')
    expect(await update(mergeRequest, { targetBranch: name }).catch(failure)).toEqual(failureOf('targetBranch'))
  },
)

test('has an iid apart from issues, users, labels and a milestone, and is a draft because of its title', async () => {
  const milestone = await world.perform(developer, projectMilestones.create, { parent: tools.id, title: 'Spring' })
  const mergeRequest = await create('retry', {
    title: 'Draft: Retry',
    labels: ['net'],
    assigneeId: developer.id,
    reviewerIds: [reporter.id, 999],
    milestoneId: milestone.id,
    squash: true,
  })
  expect(mergeRequest).toMatchObject({
    iid: 1,
    state: 'opened',
    isDraft: true,
    author: { username: 'mira' },
    assignees: [{ username: 'mira' }],
    reviewers: [{ username: 'noor' }],
    labels: ['net'],
    milestone: { title: 'Spring' },
    isSquashed: true,
  })
  await world.clock.advance(1_000)
  const ready = await update(mergeRequest, { title: 'Retry', reviewerIds: [] })
  expect(ready).toMatchObject({ isDraft: false, reviewers: [], updatedAtMs: mergeRequest.createdAtMs + 1_000 })
})

test('source and target must differ, and only one can be open for each pair of branches', async () => {
  const self = "You can't use same project/branch for source and target"
  expect(await create('main').catch(failure)).toEqual({ code: 'conflict', reason: self })
  const first = await create('retry')
  const twice = { code: 'conflict', reason: 'Another open merge request already exists for this source branch: !1' }
  expect(await create('retry').catch(failure)).toEqual(twice)
  await update(first, { stateEvent: 'close' })
  const second = await create('retry', { targetBranch: 'stable' })
  expect(second).toMatchObject({ iid: 2 })
  await world.branches(tools, 'main')
  await update(second, { targetBranch: 'main' })
  expect(await update(first, { stateEvent: 'reopen' }).catch(failure)).toMatchObject({ code: 'conflict' })
})

test('needs branches that exist', async () => {
  await world.branches(tools, 'main', 'retry')
  const input = { project: tools.id, title: 'A', sourceBranch: 'gone', targetBranch: 'away' }
  const creating = (more: object) => world.perform(developer, createMergeRequest, { ...input, ...more }).catch(failure)
  const fields = { sourceBranch: ['does not exist'], targetBranch: ['does not exist'] }
  expect(await creating({})).toEqual({ code: 'invalid', fields })
  expect(await creating({ sourceBranch: 'retry' })).toEqual({
    code: 'invalid',
    fields: { targetBranch: ['does not exist'] },
  })
  expect(await creating({ sourceBranch: 'retry', targetBranch: 'main' })).toMatchObject({ iid: 1, canMerge: true })
  const away = { project: tools.id, mergeRequestIid: 1, targetBranch: 'away' }
  expect(await world.perform(developer, updateMergeRequest, away).catch(failure)).toMatchObject({ code: 'invalid' })
})

test('shows the head commit of its source branch', async () => {
  const maintainer = await world.user('ada')
  await world.member(tools, maintainer, accessLevels.maintainer)
  const commit = async (branch: string, filePath: string, start: object = {}) => {
    const actions = [{ action: 'create', filePath, content: 'x' }]
    const input = { project: tools.id, branch, commitMessage: 'x', actions, ...start }
    return (await world.perform(maintainer, createCommit, input)).sha
  }
  await commit('main', 'a')
  const { iid } = await create('retry')
  const shown = async () =>
    (await world.perform(developer, getProjectMergeRequest, { project: tools.id, mergeRequestIid: iid })).sha
  const none = await shown()
  const first = await commit('retry', 'b', { startBranch: 'main' })
  expect([none, await shown()]).toEqual([undefined, first])
  const second = await commit('retry', 'c')
  expect(await shown()).toBe(second)
  await world.perform(developer, removeBranch, { project: tools.id, branch: 'retry' })
  expect(await shown()).toBeUndefined()
})

test('can be closed and reopened', async () => {
  const mergeRequest = await create('retry')
  const closed = await update(mergeRequest, { stateEvent: 'close' })
  expect(closed).toMatchObject({ state: 'closed', closedBy: { username: 'mira' } })
  expect(await update(closed, { stateEvent: 'close' })).toEqual(closed)
  expect(await update(closed, { stateEvent: 'reopen' })).toMatchObject({ state: 'opened', closedAtMs: undefined })
})

test('developers create and update, assignees update their own, guests of a private project see none', async () => {
  const mergeRequest = await create('retry')
  expect(await create('other', {}, reporter).catch(failure)).toEqual({ code: 'forbidden' })
  expect(await update(mergeRequest, { title: 'Mine' }, reporter).catch(failure)).toEqual({ code: 'forbidden' })
  await update(mergeRequest, { assigneeIds: [reporter.id] })
  expect(await update(mergeRequest, { title: 'Mine' }, reporter)).toMatchObject({ title: 'Mine' })
  const guest = await world.user('kai')
  await world.member(tools, guest, accessLevels.guest)
  const one = { project: tools.id, mergeRequestIid: 1 }
  expect(await world.perform(guest, getProjectMergeRequest, one).catch(failure)).toEqual({ code: 'forbidden' })
  expect(branches(await world.perform(guest, listMergeRequests, { scope: 'all' }))).toEqual([])
  expect(await world.perform(developer, removeMergeRequest, one).catch(failure)).toEqual({ code: 'forbidden' })
})

test.each([
  [{ state: 'opened' }, ['ui', 'cache']],
  [{ state: 'closed' }, ['retry']],
  [{ labels: ['net'] }, ['retry']],
  [{ draft: true }, ['ui']],
  [{ wip: 'no' }, ['cache', 'retry']],
  [{ sourceBranch: 'cache' }, ['cache']],
  [{ targetBranch: 'stable' }, ['ui']],
  [{ reviewerUsername: 'noor' }, ['cache']],
  [{ reviewerId: 'None' }, ['ui', 'retry']],
  [{ assigneeUsername: 'noor' }, []],
  [{ search: 'take CACHE' }, ['cache']],
  [{ orderBy: 'created_at', sort: 'asc', perPage: 2 }, ['retry', 'cache']],
])('lists merge requests filtered and ordered by %o', async (filter, expected) => {
  const retry = await create('retry', { labels: ['net'] })
  await create('cache', { reviewerIds: [reporter.id] })
  await create('ui', { targetBranch: 'stable', title: '[Draft] New colours' })
  await update(retry, { stateEvent: 'close' })
  expect(await listed(filter)).toEqual(expected)
})

test('a group lists the merge requests of the projects below it', async () => {
  await create('retry')
  expect(branches(await world.perform(developer, listGroupMergeRequests, { group: 'ops' }))).toEqual(['retry'])
})

test('a job token lists the merge requests of its own project, and of others only public ones', async () => {
  await create('retry')
  const open = await world.project('site', ops, 'public')
  const closed = await world.project('notes', ops)
  for (const { id: project } of [open, closed]) {
    const input = { project, title: 'Retry', sourceBranch: `in-${project}`, targetBranch: 'main' }
    await world.mergeRequest(developer, input)
  }
  const job = { ...developer, jobProjectId: tools.id }
  expect(branches(await world.perform(job, listMergeRequests, { scope: 'all' }))).toEqual([`in-${open.id}`, 'retry'])
})
