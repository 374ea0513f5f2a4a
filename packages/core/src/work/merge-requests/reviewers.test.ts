import { World } from '@penstock/testkit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { DomainError } from '../../base/kit/domain-error.ts'
import { accessLevels } from '../../base/model/access-level.ts'
import type { Project } from '../../base/model/project.ts'
import type { User } from '../../base/model/user.ts'
import { mergeRequestNotes } from '../discussions/note-operations.ts'
import { approveMergeRequest } from './approval-operations.ts'
import { createMergeRequest, updateMergeRequest } from './merge-request-operations.ts'
import { listMergeRequestReviewers } from './merge-request-tracking.ts'
import { requestChanges, requestReviewAgain } from './reviewer-operations.ts'

let world: World
let mira: User
let noor: User
let visitor: User
let project: Project
const failure = (error: DomainError) => error.failure

beforeEach(async () => {
  world = await World.open()
  mira = await world.user('mira')
  noor = await world.user('noor')
  visitor = await world.user('visitor')
  project = await world.project('tools', await world.group('ops', { visibility: 'public' }), 'public')
  await world.member(project, mira, accessLevels.maintainer)
  await world.member(project, noor, accessLevels.developer)
  await world.branches(project, 'main', 'fix')
  const draft = { project: project.id, title: 'Fix', sourceBranch: 'fix', targetBranch: 'main' }
  await world.perform(mira, createMergeRequest, { ...draft, reviewerIds: [noor.id] })
})
afterEach(() => world.close())

const one = () => ({ project: project.id, mergeRequestIid: 1 })
const reviewers = () => world.perform(undefined, listMergeRequestReviewers, one())
const state = async () => (await reviewers())[0]?.reviewState
const comment = (actor: User) => world.perform(actor, mergeRequestNotes.create, { ...one(), body: 'Looks good' })
const askAgain = (actor: User, userId: number) => world.perform(actor, requestReviewAgain, { ...one(), userId })

test('a new reviewer has not reviewed, and keeps the state while others change', async () => {
  const since = world.clock.nowMs()
  await world.clock.advance(1_000)
  await comment(noor)
  await world.perform(mira, updateMergeRequest, { ...one(), reviewerIds: [noor.id, mira.id] })
  expect(
    (await reviewers()).map(({ username, reviewState, requestedAtMs }) => [username, reviewState, requestedAtMs]),
  ).toEqual([
    ['mira', 'unreviewed', since + 1_000],
    ['noor', 'reviewed', since],
  ])
})

test("a reviewer's first comment is a review, and others' comments are not", async () => {
  await comment(mira)
  expect(await state()).toBe('unreviewed')
  await comment(noor)
  expect(await state()).toBe('reviewed')
  await world.perform(noor, approveMergeRequest, one())
  await comment(noor)
  expect(await state()).toBe('approved')
})

test('a reviewer requests changes, which removes the approval', async () => {
  expect(await world.perform(mira, requestChanges, one()).catch(failure)).toEqual({
    code: 'refused',
    message: 'Reviewer not found',
  })
  expect(await world.perform(visitor, requestChanges, one()).catch(failure)).toEqual({ code: 'forbidden' })
  await world.perform(noor, approveMergeRequest, one())
  expect((await world.perform(noor, requestChanges, one())).approvals).toEqual([])
  expect(await state()).toBe('requested_changes')
})

test('who may update the merge request asks for another review', async () => {
  await world.perform(noor, approveMergeRequest, one())
  expect(await askAgain(visitor, noor.id).catch(failure)).toEqual({ code: 'forbidden' })
  expect(await askAgain(mira, visitor.id).catch(failure)).toMatchObject({ code: 'refused' })
  expect((await askAgain(mira, noor.id)).approvals).toEqual([])
  expect(await state()).toBe('unreviewed')
  const { items } = await world.perform(mira, mergeRequestNotes.list, one())
  expect(items.map(({ body }) => body)).toContain('requested review from @noor')
})
