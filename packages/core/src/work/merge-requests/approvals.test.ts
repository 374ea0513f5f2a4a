import { World } from '@penstock/testkit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { DomainError } from '../../base/kit/domain-error.ts'
import { accessLevels } from '../../base/model/access-level.ts'
import type { Project } from '../../base/model/project.ts'
import type { ActingUser, User } from '../../base/model/user.ts'
import { updateProject } from '../../code/projects/project-operations.ts'
import { createCommit } from '../../code/repositories/commit-operations.ts'
import { mergeRequestNotes } from '../discussions/note-operations.ts'
import { approveMergeRequest, getApprovals, resetApprovals, unapproveMergeRequest } from './approval-operations.ts'
import { mergeMergeRequest } from './merge-request-merge.ts'
import { createMergeRequest, listProjectMergeRequests } from './merge-request-operations.ts'
import { listMergeRequestReviewers } from './merge-request-tracking.ts'

let world: World
let [mira, noor, visitor]: User[] = []
let project: Project
let head: string
const failure = (error: DomainError) => error.failure

beforeEach(async () => {
  world = await World.open()
  ;[mira, noor, visitor] = [await world.user('mira'), await world.user('noor'), await world.user('visitor')]
  project = await world.project('tools', await world.group('ops', { visibility: 'public' }), 'public')
  await world.member(project, mira, accessLevels.maintainer)
  await world.member(project, noor, accessLevels.developer)
  await commit('main', 'a.txt')
  head = await commit('fix', 'b.txt', 'main')
  await createBetween('fix', [noor!.id])
})
afterEach(() => world.close())

async function commit(branch: string, filePath: string, startBranch?: string) {
  const actions = [{ action: 'create', filePath, content: 'text' }]
  const input = { project: project.id, branch, commitMessage: `Add ${filePath}`, startBranch, actions }
  return (await world.perform(mira, createCommit, input)).sha
}
const createBetween = (sourceBranch: string, reviewerIds: number[] = []) =>
  world.perform(mira, createMergeRequest, {
    ...{ project: project.id, title: 'Fix', targetBranch: 'main' },
    sourceBranch,
    reviewerIds,
  })
const one = () => ({ project: project.id, mergeRequestIid: 1 })
const approve = (actor: ActingUser | undefined, more: object = {}) =>
  world.perform(actor, approveMergeRequest, { ...one(), ...more })
const unapprove = (actor: ActingUser | undefined) => world.perform(actor, unapproveMergeRequest, one())
const reviewState = async () => (await world.perform(mira, listMergeRequestReviewers, one()))[0]?.reviewState

test('members approve a merge request once, and take the approval back', async () => {
  expect(await world.perform(noor, getApprovals, one())).toMatchObject({ hasApproved: false, canApprove: true })
  const approved = await approve(noor, { sha: head })
  expect(approved).toMatchObject({ hasApproved: true, canApprove: false })
  expect(approved.mergeRequest.approvals).toEqual([
    { user: expect.objectContaining({ username: 'noor' }), approvedAtMs: world.clock.nowMs() },
  ])
  expect(await reviewState()).toBe('approved')
  expect(await approve(noor).catch(failure)).toEqual({ code: 'unauthenticated' })
  expect((await unapprove(noor)).mergeRequest.approvals).toEqual([])
  expect(await reviewState()).toBe('unapproved')
  expect(await unapprove(noor).catch(failure)).toEqual({ code: 'not_found' })
  const { items } = await world.perform(mira, mergeRequestNotes.list, one())
  expect(items.map(({ body }) => body).toSorted()).toEqual([
    'approved this merge request',
    'unapproved this merge request',
  ])
})

test('visitors, a moved head and a merged merge request are refused', async () => {
  expect(await world.perform(undefined, getApprovals, one())).toMatchObject({ canApprove: false })
  expect(await approve(visitor).catch(failure)).toEqual({ code: 'forbidden' })
  const reason = `SHA does not match HEAD of source branch: ${head}`
  expect(await approve(noor, { sha: 'f'.repeat(40) }).catch(failure)).toEqual({ code: 'conflict', reason })
  await approve(noor)
  await world.perform(mira, mergeMergeRequest, one())
  expect(await approve(mira).catch(failure)).toEqual({ code: 'unauthenticated' })
  expect(await unapprove(noor).catch(failure)).toEqual({ code: 'not_found' })
})

test('the project may require approvals before a merge', async () => {
  await world.perform(mira, updateProject, { project: project.id, approvalsBeforeMerge: 2 })
  await approve(noor)
  const notAllowed = { code: 'protected', message: '405 Method Not Allowed' }
  expect(await world.perform(mira, mergeMergeRequest, one()).catch(failure)).toEqual(notAllowed)
  await approve(mira)
  expect((await world.perform(mira, mergeMergeRequest, one())).state).toBe('merged')
})

test('only bots of the project or its groups remove all approvals', async () => {
  await approve(noor)
  const reset = (actor: ActingUser) => world.perform(actor, resetApprovals, one())
  expect(await reset(mira!).catch(failure)).toEqual({ code: 'unauthenticated' })
  const botHome = { projectId: project.id, groupId: undefined }
  expect((await reset({ ...mira!, botHome })).mergeRequest.approvals).toEqual([])
  expect(await reviewState()).toBe('unapproved')
})

test('lists are filtered by the users who approved', async () => {
  await commit('more', 'c.txt', 'main')
  await createBetween('more')
  await approve(mira)
  await approve(noor)
  const iids = async (filter: object) =>
    (await world.perform(mira, listProjectMergeRequests, { project: project.id, ...filter })).items.map(
      ({ iid }) => iid,
    )
  expect(await iids({ approvedByIds: [mira!.id, noor!.id] })).toEqual([1])
  expect(await iids({ approvedByIds: [mira!.id, visitor!.id] })).toEqual([])
  expect(await iids({ approvedByIds: ['Any'] })).toEqual([1])
  expect(await iids({ approvedByIds: ['None'] })).toEqual([2])
  expect(await iids({ approvedByUsernames: ['MIRA', 'noor'] })).toEqual([1])
  expect(await iids({ not: { approvedByUsernames: ['noor'] } })).toEqual([2])
  expect(await iids({ not: { approvedByIds: [visitor!.id] } })).toEqual([2, 1])
})
